// X.509 certificates for the cases: own code, because 200 of them by the openssl command would take a minute of CPU.
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";
import { isIPv4 } from "node:net";
import { bits, boolean, explicit, integer, nothing, octets, oid, pem, sequence, setOf, time, tlv, utf8 } from "./der";

const DAY_MS = 86_400_000;

export type KeyKind = "rsa2048" | "ec256";

export interface Keys {
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
}

export interface Issuer {
  readonly cn: string;
  readonly keys: Keys;
}

export interface CertificateRequest {
  readonly cn: string;
  readonly sans: readonly string[];
  readonly isCa: boolean;
  /** Days of validity from now; negative: expired that many days ago. */
  readonly days: number;
  readonly keys: Keys;
  /** Absent: self-signed. */
  readonly issuer?: Issuer;
}

export function generateKeys(kind: KeyKind): Keys {
  return kind === "ec256" ? generateKeyPairSync("ec", { namedCurve: "P-256" }) : generateKeyPairSync("rsa", { modulusLength: 2048 });
}

function nameOf(cn: string): Buffer {
  return sequence(setOf(sequence(oid("2.5.4.3"), utf8(cn))));
}

function signatureAlgorithm(key: KeyObject): Buffer {
  return key.asymmetricKeyType === "ec" ? sequence(oid("1.2.840.10045.4.3.2")) : sequence(oid("1.2.840.113549.1.1.11"), nothing());
}

function publicBytes(keys: Keys): Buffer {
  return keys.publicKey.export({ type: "spki", format: "der" });
}

function keyIdentifier(keys: Keys): Buffer {
  return createHash("sha1").update(publicBytes(keys)).digest();
}

function alternativeName(name: string): Buffer {
  return isIPv4(name) ? tlv(0x87, Buffer.from(name.split(".").map(Number))) : tlv(0x82, Buffer.from(name));
}

function extension(id: string, content: Buffer, critical = false): Buffer {
  return sequence(oid(id), ...(critical ? [boolean(true)] : []), octets(content));
}

function extensions(request: CertificateRequest, issuerKeys: Keys): Buffer {
  const list = [
    extension("2.5.29.19", request.isCa ? sequence(boolean(true)) : sequence(), true),
    extension("2.5.29.14", octets(keyIdentifier(request.keys))),
    extension("2.5.29.35", sequence(tlv(0x80, keyIdentifier(issuerKeys)))),
  ];
  // keyCertSign and cRLSign; or digitalSignature and keyEncipherment.
  list.push(extension("2.5.29.15", request.isCa ? bits(Buffer.from([0x06]), 1) : bits(Buffer.from([0xa0]), 5), true));
  if (request.sans.length > 0) list.push(extension("2.5.29.17", sequence(...request.sans.map(alternativeName))));
  return explicit(3, sequence(...list));
}

function validity(days: number): Buffer {
  const now = Date.now();
  const until = new Date(now + days * DAY_MS);
  const from = new Date(Math.min(now, until.getTime()) - 2 * DAY_MS);
  return sequence(time(from), time(until));
}

/** The certificate as PEM. */
export function makeCertificate(request: CertificateRequest): string {
  const issuer = request.issuer ?? { cn: request.cn, keys: request.keys };
  const algorithm = signatureAlgorithm(issuer.keys.privateKey);
  const serial = randomBytes(16);
  serial[0] = (serial[0]! & 0x7f) | 0x40;
  const body = sequence(
    explicit(0, integer(Buffer.from([2]))),
    integer(serial),
    algorithm,
    nameOf(issuer.cn),
    validity(request.days),
    nameOf(request.cn),
    publicBytes(request.keys),
    extensions(request, issuer.keys),
  );
  return pem("CERTIFICATE", sequence(body, algorithm, bits(sign("sha256", body, issuer.keys.privateKey))));
}

export function privatePem(keys: Keys): string {
  return keys.privateKey.export({ type: "pkcs8", format: "pem" }).toString();
}
