/** The certificate of last resort, signed by itself: shown to TLS clients of hosts that have none. X.509 written in DER by hand. */

import { generateKeyPair, type KeyObject, sign } from "node:crypto";
import { promisify } from "node:util";
import { type Clock, systemClock } from "./clock.ts";
import { bitString, extension, oid, pem, randomSerial, sequence, time, tlv, utf8 } from "./der.ts";

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
    tlv(0x02, randomSerial()),
    sequence(oid(1, 2, 840, 113549, 1, 1, 11), tlv(0x05)),
    name,
    sequence(time(now), time(now + subject.days * dayMs)),
    name,
    publicKey.export({ type: "spki", format: "der" }),
    tlv(0xa3, extensions),
  );
}
