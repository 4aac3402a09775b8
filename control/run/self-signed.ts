/** The certificate of last resort, signed by itself: shown to TLS clients of hosts that have none. X.509 written in DER by hand. */

import { generateKeyPair, type KeyObject, randomBytes, sign } from "node:crypto";
import { promisify } from "node:util";
import { type Clock, systemClock } from "./clock.ts";

export interface SelfSigned {
  /** PEM. */
  readonly certificate: string;
  /** PEM, PKCS#8. */
  readonly key: string;
}

export interface Subject {
  readonly organization: string;
  readonly commonName: string;
  readonly dnsNames: readonly string[];
  readonly days: number;
}

/** Name and content are those that monitoring of the retired controller looks for. */
export const fakeSubject: Subject = {
  organization: "Acme Co",
  commonName: "Kubernetes Ingress Controller Fake Certificate",
  dnsNames: ["ingress.local"],
  days: 365,
};

const generate = promisify(generateKeyPair);
const dayMs = 86_400_000;

/** RSA 2048, SHA-256, for TLS servers. */
export async function selfSigned(subject: Subject = fakeSubject, clock: Clock = systemClock): Promise<SelfSigned> {
  const { privateKey, publicKey } = await generate("rsa", { modulusLength: 2048 });
  const body = certificateBody(subject, publicKey, clock.now());
  const algorithm = sequence(oid(1, 2, 840, 113549, 1, 1, 11), tlv(0x05));
  const signature = bitString(sign("sha256", body, privateKey));
  const key = privateKey.export({ type: "pkcs8", format: "pem" });
  return { certificate: pem("CERTIFICATE", sequence(body, algorithm, signature)), key: key.toString() };
}

function certificateBody(subject: Subject, publicKey: KeyObject, now: number): Buffer {
  const serial = randomBytes(16);
  // Positive and without a leading zero byte.
  serial[0] = (serial[0]! & 0x7f) | 0x40;
  const name = sequence(
    tlv(0x31, sequence(oid(2, 5, 4, 10), utf8(subject.organization))),
    tlv(0x31, sequence(oid(2, 5, 4, 3), utf8(subject.commonName))),
  );
  const alternatives = sequence(...subject.dnsNames.map((dns) => tlv(0x82, Buffer.from(dns, "ascii"))));
  const critical = tlv(0x01, Buffer.from([0xff]));
  const extensions = sequence(
    // digitalSignature and keyEncipherment
    extension(oid(2, 5, 29, 15), critical, tlv(0x03, Buffer.from([5, 0xa0]))),
    extension(oid(2, 5, 29, 37), Buffer.alloc(0), sequence(oid(1, 3, 6, 1, 5, 5, 7, 3, 1))),
    extension(oid(2, 5, 29, 19), critical, sequence()),
    extension(oid(2, 5, 29, 17), Buffer.alloc(0), alternatives),
  );
  return sequence(
    tlv(0xa0, tlv(0x02, Buffer.from([2]))),
    tlv(0x02, serial),
    sequence(oid(1, 2, 840, 113549, 1, 1, 11), tlv(0x05)),
    name,
    sequence(time(now), time(now + subject.days * dayMs)),
    name,
    publicKey.export({ type: "spki", format: "der" }),
    tlv(0xa3, extensions),
  );
}

function tlv(tag: number, ...contents: readonly Buffer[]): Buffer {
  const body = Buffer.concat(contents);
  if (body.length < 128) return Buffer.concat([Buffer.from([tag, body.length]), body]);
  const size: number[] = [];
  for (let rest = body.length; rest > 0; rest >>= 8) size.unshift(rest & 0xff);
  return Buffer.concat([Buffer.from([tag, 0x80 | size.length, ...size]), body]);
}

function sequence(...contents: readonly Buffer[]): Buffer {
  return tlv(0x30, ...contents);
}

function extension(id: Buffer, critical: Buffer, value: Buffer): Buffer {
  return sequence(id, critical, tlv(0x04, value));
}

function bitString(bytes: Buffer): Buffer {
  return tlv(0x03, Buffer.from([0]), bytes);
}

function utf8(text: string): Buffer {
  return tlv(0x0c, Buffer.from(text, "utf8"));
}

function oid(first: number, second: number, ...rest: readonly number[]): Buffer {
  const bytes = [first * 40 + second];
  for (const part of rest) {
    const digits = [part & 0x7f];
    for (let left = part >> 7; left > 0; left >>= 7) digits.unshift((left & 0x7f) | 0x80);
    bytes.push(...digits);
  }
  return tlv(0x06, Buffer.from(bytes));
}

/** UTCTime up to 2049, GeneralizedTime after it, as RFC 5280 asks for. */
function time(ms: number): Buffer {
  const digits = `${new Date(ms).toISOString().slice(0, 19).replaceAll(/[-:T]/g, "")}Z`;
  return Number(digits.slice(0, 4)) < 2050 ? tlv(0x17, Buffer.from(digits.slice(2))) : tlv(0x18, Buffer.from(digits));
}

function pem(label: string, der: Buffer): string {
  const lines = der.toString("base64").match(/.{1,64}/g)!;
  return `-----BEGIN ${label}-----\n${lines.join("\n")}\n-----END ${label}-----\n`;
}
