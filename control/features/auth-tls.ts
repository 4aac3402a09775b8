/** Annotations: auth-tls. The host-wide part is build/host-tls.ts; here what its routes need. */

import { type Denied, feature, type Notice, type Place, row } from "../catalog/feature.ts";
import { basicText, bool, int, type Kind, oneOf, pattern, regexText } from "../catalog/kinds.ts";
import { namedLocations } from "../catalog/nginx-text.ts";
import { authorityOf } from "./client-authority.ts";
import { serverSnippetOf } from "./snippets.ts";

const prefix = "CN=";

/** The value is the expression after "CN=". */
const commonName: Kind<string> = {
  label: "CN= and a regular expression",
  parse(text) {
    if (!text.startsWith(prefix)) return { ok: false, reason: `"${text.slice(0, 80)}" does not begin with CN=` };
    return /[\0-\x1f\x7f]/.test(text) ? { ok: false, reason: "it holds control characters" } : regexText.parse(text.slice(prefix.length));
  },
  examples: ["CN=(alice|bob)", "alice"],
  schema: { type: "string", pattern: "^CN=" },
};

const segments = "(/[A-Za-z0-9._-]*)*";
const errorPage = pattern(
  "URL, path or @name",
  new RegExp(`^(@[A-Za-z0-9_-]+|(https?://[A-Za-z0-9.-]+(:[0-9]{1,5})?)?${segments})$`),
  "https://errors.test/no-certificate",
  "http://x.test/a;b",
);

export const authTls = feature({
  name: "auth-tls",
  rows: {
    "auth-tls-secret": row({
      kind: basicText,
      default: undefined,
      scope: "host",
      risk: "medium",
      onInvalid: "reject",
      guards: true,
      doc: "namespace/name of a Secret with ca.crt and, if wanted, ca.crl: clients of the host must show a certificate of that authority. The oldest Ingress of the host that has it decides; without it the other auth-tls annotations have no effect. A Secret that is missing, holds no usable ca.crt or lies in another namespace closes the host with 403.",
    }),
    "auth-tls-verify-client": row({
      kind: oneOf(["on", "off", "optional", "optional_no_ca"]),
      default: "on",
      scope: "host",
      risk: "medium",
      onInvalid: "default",
      doc: "on: a good certificate is needed. optional: none or a good one. optional_no_ca: also one of an unknown authority, the upstream judges. off: none is asked for.",
    }),
    "auth-tls-verify-depth": row({
      kind: int(-(2 ** 31)),
      default: 1,
      scope: "host",
      risk: "low",
      onInvalid: "default",
      doc: "Intermediate certificates allowed between the client's and the authority's; below 1 it is 1.",
    }),
    "auth-tls-error-page": row({
      kind: errorPage,
      default: undefined,
      scope: "host",
      risk: "high",
      onInvalid: "reject",
      doc: "Where requests without a good certificate go: a URL (302), a path of the same host, or @name for a location of that name in the host's server-snippet (400 where there is none).",
    }),
    "auth-tls-pass-certificate-to-upstream": row({
      kind: bool,
      default: false,
      risk: "low",
      onInvalid: "reject",
      doc: "Pass the certificate on to the upstream and to external authentication as ssl-client-cert (URL-escaped PEM).",
    }),
    "auth-tls-match-cn": row({
      kind: commonName,
      default: undefined,
      scope: "host",
      risk: "high",
      onInvalid: "reject",
      guards: true,
      doc: "CN= and a regular expression that the whole common name of the certificate's subject must match, else 403.",
    }),
  },
  build(values, place) {
    const { clientAuth } = place;
    if (clientAuth === undefined) return undefined;
    const pass = values["auth-tls-pass-certificate-to-upstream"];
    const required = clientAuth.verify === "on";
    if (!pass && !required) return undefined;
    return { clientCertificate: { ...(pass ? { pass } : {}), ...(required ? { required } : {}) } };
  },
  notices: (values, place) => missingPage(values["auth-tls-error-page"], place),
  deny: (values, place) => denial(values["auth-tls-secret"], place),
});

function missingPage(page: string | undefined, { clientAuth, owners, settings }: Place): readonly Notice[] {
  if (page?.startsWith("@") !== true || page !== clientAuth?.errorPage) return [];
  const texts = [serverSnippetOf(owners, settings)?.text ?? "", settings["server-snippet"]];
  if (texts.flatMap(namedLocations).includes(page)) return [];
  const reason = `no server-snippet of the host has a location "${page}": requests without a good certificate are answered 400`;
  return [{ annotation: "auth-tls-error-page", reason }];
}

function denial(secret: string | undefined, place: Place): Denied | undefined {
  if (secret === undefined) return undefined;
  const found = authorityOf(secret, place.ingress.metadata.namespace, place.settings, place.look);
  return found.ok ? undefined : { annotation: "auth-tls-secret", code: found.code, reason: found.reason };
}
