// The `files` of a case → texts for ${file:…}, and key pairs for TLS clients.
import { createDiffieHellmanGroup } from "node:crypto";
import type { MaterialSpec } from "./case";
import { generateKeys, type Issuer, type KeyKind, type Keys, makeCertificate, privatePem } from "./certificate";
import { integer, pem, sequence } from "./der";
import { htpasswdText } from "./htpasswd";

export interface Authority extends Issuer {
  readonly certificate: string;
  /** PEM: what goes with a certificate of its, up to and without the root; empty for a root. */
  readonly chain: string;
}

const CA_DAYS = 3650;
const CERT_DAYS = 365;

/** Hands out key pairs and takes them back after a case: making an RSA key takes longer than most cases. */
export interface KeyPool {
  take(kind: KeyKind): Keys;
  giveBack(): void;
}

export function createKeyPool(): KeyPool {
  const all: Record<KeyKind, Keys[]> = { rsa2048: [], ec256: [] };
  const used: Record<KeyKind, number> = { rsa2048: 0, ec256: 0 };
  return {
    take: (kind) => {
      const number = used[kind]++;
      all[kind][number] ??= generateKeys(kind);
      return all[kind][number];
    },
    giveBack: () => {
      used.rsa2048 = 0;
      used.ec256 = 0;
    },
  };
}

export function makeAuthority(cn: string, keys: Keys, issuer?: Authority): Authority {
  const certificate = makeCertificate({ cn, sans: [], isCa: true, days: CA_DAYS, keys, issuer });
  return { cn, keys, certificate, chain: issuer === undefined ? "" : certificate + issuer.chain };
}

/** Parameters of RFC 3526 group 14: making new ones takes minutes. */
export function dhparamText(): string {
  const group = createDiffieHellmanGroup("modp14");
  return pem("DH PARAMETERS", sequence(integer(group.getPrime()), integer(group.getGenerator())));
}

export interface Materials {
  /** Texts by "KEY", "KEY.crt" and "KEY.key". */
  readonly texts: ReadonlyMap<string, string>;
}

interface Making {
  readonly specs: Readonly<Record<string, MaterialSpec>>;
  readonly pool: KeyPool;
  readonly authorities: Map<string, Authority>;
  readonly texts: Map<string, string>;
}

function authority(making: Making, key: string): Authority {
  const made = making.authorities.get(key);
  if (made !== undefined) return made;
  const spec = making.specs[key];
  if (spec?.generate !== "ca") throw new Error(`files: ${key} is not a generated CA`);
  const issuer = spec.ca === undefined ? undefined : authority(making, spec.ca);
  const one = makeAuthority(`${key} CA`, making.pool.take("ec256"), issuer);
  making.authorities.set(key, one);
  return one;
}

function putAuthority(texts: Map<string, string>, key: string, one: Authority): void {
  texts.set(`${key}.crt`, one.certificate);
  texts.set(`${key}.key`, privatePem(one.keys));
}

function make(making: Making, key: string, spec: MaterialSpec): void {
  switch (spec.generate) {
    case "ca":
      putAuthority(making.texts, key, authority(making, key));
      return;
    case "htpasswd":
      making.texts.set(key, htpasswdText(spec.users, spec.hash ?? "apr1"));
      return;
    case "dhparam":
      making.texts.set(key, dhparamText());
      return;
    case "cert": {
      const keys = making.pool.take(spec.key ?? "rsa2048");
      const issuer = spec.ca === undefined || spec.ca === "self" ? undefined : authority(making, spec.ca);
      const certificate = makeCertificate({ cn: spec.cn, sans: spec.sans ?? [], isCa: false, days: spec.days ?? CERT_DAYS, keys, issuer });
      making.texts.set(`${key}.crt`, certificate + (issuer?.chain ?? ""));
      making.texts.set(`${key}.key`, privatePem(keys));
    }
  }
}

/** Throws NoHashProgram when the machine cannot make one of them. */
export function makeMaterials(specs: Readonly<Record<string, MaterialSpec>>, fixtureCa: Authority, pool: KeyPool): Materials {
  const making: Making = { specs, pool, authorities: new Map([["fixture-ca", fixtureCa]]), texts: new Map() };
  putAuthority(making.texts, "fixture-ca", fixtureCa);
  for (const [key, spec] of Object.entries(specs)) make(making, key, spec);
  return { texts: making.texts };
}
