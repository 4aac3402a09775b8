/** Annotations: TLS towards the backends. */

import { createHash, createPrivateKey, X509Certificate } from "node:crypto";
import { type Denied, feature, type Owner, type Place, row } from "../catalog/feature.ts";
import { hostText, int, type Kind, oneOf, pattern, type RefText, ref } from "../catalog/kinds.ts";
import { Private } from "../model/certificate.ts";
import type { Argument, Directive, FileText } from "../model/model.ts";
import type { Secret } from "../source/kinds.ts";

const ciphers = pattern("OpenSSL cipher list", /^[A-Za-z0-9!:+\-_]+$/, "HIGH:!aNULL", "a b");

const protocols: Kind<readonly string[]> = {
  label: "TLSv1.2 TLSv1.3",
  parse(t) {
    const words = t.split(/\s+/).filter((w) => w !== "");
    const bad = words.find((w) => w !== "TLSv1.2" && w !== "TLSv1.3");
    if (bad !== undefined) return { ok: false, reason: `"${bad}" is neither TLSv1.2 nor TLSv1.3` };
    return { ok: true, value: words.length === 0 ? ["TLSv1.2"] : [...new Set(words)].sort() };
  },
  examples: ["TLSv1.2 TLSv1.3", "SSLv3"],
  schema: { type: "string" },
};

/** PEM texts of a Secret for proxy-ssl-secret; a reason when it cannot be used. */
interface Material {
  readonly ca?: FileText;
  readonly pair?: { readonly chain: FileText; readonly key: FileText };
}

const materials = new WeakMap<Secret, Material | string>();

function fileText(text: string): FileText {
  const content = `${text.trim()}\n`;
  return { file: `${createHash("sha256").update(content).digest("hex").slice(0, 32)}.pem`, content: new Private(content) };
}

export function materialOf(secret: Secret): Material | string {
  let known = materials.get(secret);
  if (known === undefined) {
    known = readMaterial(secret);
    materials.set(secret, known);
  }
  return known;
}

function readMaterial(secret: Secret): Material | string {
  const [ca = "", chain = "", key = ""] = ["ca.crt", "tls.crt", "tls.key"].map((name) => secret.data[name]?.trim());
  if (ca === "" && (chain === "" || key === "")) return "it has neither ca.crt nor tls.crt with tls.key";
  try {
    if (ca !== "") checkCertificates(ca);
    if (chain !== "" && key !== "") {
      const [leaf] = checkCertificates(chain);
      if (leaf?.checkPrivateKey(createPrivateKey(key)) !== true) return "tls.key does not belong to tls.crt";
    }
  } catch (error) {
    return `it cannot be read: ${(error as Error).message}`;
  }
  return {
    ...(ca === "" ? {} : { ca: fileText(ca) }),
    ...(chain === "" || key === "" ? {} : { pair: { chain: fileText(chain), key: fileText(key) } }),
  };
}

/** Every block is tried: nginx would refuse the file for one that is broken. */
function checkCertificates(pem: string): X509Certificate[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g);
  if (blocks === null) throw new Error("it holds no PEM certificate");
  return blocks.map((block) => new X509Certificate(block));
}

interface TlsValues {
  readonly "proxy-ssl-secret": RefText | undefined;
  readonly "proxy-ssl-ciphers": string;
  readonly "proxy-ssl-name": string | undefined;
  readonly "proxy-ssl-protocols": readonly string[];
  readonly "proxy-ssl-server-name": string;
  readonly "proxy-ssl-verify": string;
  readonly "proxy-ssl-verify-depth": number;
}

type Context = Pick<Place, "look" | "settings">;

/** The Secret's material, or why there is none. */
function find(values: TlsValues, namespace: string, context: Context): Material | Denied | undefined {
  const ref = values["proxy-ssl-secret"];
  if (ref === undefined) return undefined;
  const refuse = (code: Denied["code"], reason: string): Denied => ({ annotation: "proxy-ssl-secret", code, reason });
  if (ref.namespace === undefined) return refuse("annotation-invalid", "it must be namespace/name");
  const text = `${ref.namespace}/${ref.name}`;
  if (ref.namespace !== namespace && !context.settings["allow-cross-namespace-resources"]) {
    return refuse("reference-refused", `Secret ${text} is of another namespace`);
  }
  const secret = context.look.secret(ref.namespace, ref.name);
  if (secret === undefined) return refuse("reference-missing", `there is no Secret ${text}`);
  const material = materialOf(secret);
  return typeof material === "string" ? refuse("certificate-invalid", `Secret ${text}: ${material}`) : material;
}

function isDenied(found: Material | Denied | undefined): found is Denied {
  return found !== undefined && "reason" in found;
}

/** Arguments by the name behind "proxy_ssl_" or "grpc_ssl_". */
function settingsOf(v: TlsValues, material: Material): TlsSettings {
  const out = new Map<string, readonly Argument[]>([["server_name", [v["proxy-ssl-server-name"]]]]);
  if (material.ca !== undefined) {
    out.set("trusted_certificate", [material.ca]);
    out.set("ciphers", [v["proxy-ssl-ciphers"]]);
    out.set("protocols", v["proxy-ssl-protocols"]);
    out.set("verify", [v["proxy-ssl-verify"]]);
    out.set("verify_depth", [String(Math.max(1, v["proxy-ssl-verify-depth"]))]);
  }
  if (material.pair !== undefined) {
    out.set("certificate", [material.pair.chain]);
    out.set("certificate_key", [material.pair.key]);
  }
  if (v["proxy-ssl-name"] !== undefined) out.set("name", [v["proxy-ssl-name"]]);
  return out;
}

type TlsSettings = ReadonlyMap<string, readonly Argument[]>;

const none: TlsSettings = new Map();
const hosts = new WeakMap<readonly Owner[], TlsSettings>();

/** The oldest Ingress of the host whose Secret has a CA speaks for those locations that do not say otherwise. */
function hostSettings(owners: readonly Owner[], context: Context): TlsSettings {
  if (context.settings["proxy-ssl-location-only"]) return none;
  let known = hosts.get(owners);
  if (known === undefined) {
    known = findHostSettings(owners, context);
    hosts.set(owners, known);
  }
  return known;
}

function findHostSettings(owners: readonly Owner[], context: Context): TlsSettings {
  for (const owner of owners) {
    const values = owner.values as unknown as TlsValues;
    const found = find(values, owner.ingress.metadata.namespace, context);
    if (found !== undefined && !isDenied(found) && found.ca !== undefined) return settingsOf(values, found);
  }
  return none;
}

export const backendTls = feature({
  name: "backend-tls",
  rows: {
    "proxy-ssl-secret": row({
      kind: ref,
      default: undefined,
      risk: "medium",
      onInvalid: "reject",
      applies: "profile",
      doc: "namespace/name of a Secret: its ca.crt is trusted, its tls.crt and tls.key are presented to HTTPS and GRPCS backends. Holds for the host's other Ingresses too when it has a ca.crt, unless proxy-ssl-location-only.",
    }),
    "proxy-ssl-ciphers": row({
      kind: ciphers,
      default: "DEFAULT",
      risk: "medium",
      onInvalid: "default",
      applies: "profile",
      doc: "Used when the Secret has a ca.crt.",
    }),
    "proxy-ssl-name": row({
      kind: hostText,
      default: undefined,
      risk: "high",
      onInvalid: "default",
      applies: "profile",
      doc: "Name that the backend's certificate must have and, with proxy-ssl-server-name, the SNI. With variables in it connections are not kept.",
    }),
    "proxy-ssl-protocols": row({
      kind: protocols,
      default: ["TLSv1.2"] as readonly string[],
      risk: "low",
      onInvalid: "default",
      applies: "profile",
      doc: "TLSv1.2, TLSv1.3 or both; used when the Secret has a ca.crt.",
    }),
    "proxy-ssl-server-name": row({
      kind: oneOf(["on", "off"]),
      default: "off",
      risk: "low",
      onInvalid: "default",
      applies: "profile",
      doc: "Send SNI to the upstream.",
    }),
    "proxy-ssl-verify": row({
      kind: oneOf(["on", "off"]),
      default: "off",
      risk: "low",
      onInvalid: "default",
      applies: "profile",
      doc: "Verify the upstream certificate; used when the Secret has a ca.crt.",
    }),
    "proxy-ssl-verify-depth": row({
      kind: int(-(2 ** 31)),
      default: 1,
      risk: "low",
      onInvalid: "default",
      applies: "profile",
      doc: "Length of the certificate chain; 0, negative or invalid gives 1.",
    }),
  },
  deny(v, place) {
    const found = find(v, place.ingress.metadata.namespace, place);
    return isDenied(found) ? found : undefined;
  },
  fixed(v, place) {
    const family = { HTTPS: "proxy", AUTO_HTTP: "proxy", GRPCS: "grpc" }[place.protocol as string];
    if (family === undefined) return [];
    const found = find(v, place.ingress.metadata.namespace, place);
    const own = found === undefined || isDenied(found) ? none : settingsOf(v, found);
    const all = new Map([...hostSettings(place.owners, place), ...own]);
    return [...all].map(([name, args]): Directive => ({ name: `${family}_ssl_${name}`, args }));
  },
});
