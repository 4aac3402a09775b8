/** A CA of its own and a server certificate signed by it, as the admission webhook needs them. */

import { generateKeyPair, type KeyObject, sign } from "node:crypto";
import { isIP, isIPv6 } from "node:net";
import { promisify } from "node:util";
import { type Clock, systemClock } from "../run/clock.ts";
import { bitString, extension, oid, pem, randomSerial, sequence, time, tlv, utf8 } from "../run/der.ts";

export interface WebhookCertificates {
  /** PEM. */
  readonly ca: string;
  readonly certificate: string;
  /** PEM, SEC 1. */
  readonly key: string;
}

const generate = promisify(generateKeyPair);
const dayMs = 86_400_000;
/** Clocks of other machines may be behind. */
const leewayMs = 300_000;
const algorithm = sequence(oid(1, 2, 840, 10045, 4, 3, 2));
const serverAuth = sequence(oid(1, 3, 6, 1, 5, 5, 7, 3, 1));
const critical = tlv(0x01, Buffer.from([0xff]));
const optional = Buffer.alloc(0);

interface Body {
  readonly subject: Buffer;
  readonly issuer: Buffer;
  readonly publicKey: KeyObject;
  readonly extensions: readonly Buffer[];
  readonly from: number;
  readonly until: number;
}

/** `hosts`: DNS names and IP addresses. ECDSA P-256. The CA's key is thrown away. */
export async function webhookCertificates(
  hosts: readonly string[],
  days: number,
  clock: Clock = systemClock,
): Promise<WebhookCertificates> {
  const authority = await generate("ec", { namedCurve: "P-256" });
  const server = await generate("ec", { namedCurve: "P-256" });
  const from = clock.now() - leewayMs;
  const span = { from, until: clock.now() + days * dayMs };
  const issuer = organisation("sluice admission CA");
  const ca = signed(
    {
      ...span,
      subject: issuer,
      issuer,
      publicKey: authority.publicKey,
      extensions: [
        // keyCertSign
        extension(oid(2, 5, 29, 15), critical, tlv(0x03, Buffer.from([2, 0x04]))),
        extension(oid(2, 5, 29, 37), optional, serverAuth),
        extension(oid(2, 5, 29, 19), critical, sequence(tlv(0x01, Buffer.from([0xff])))),
      ],
    },
    authority.privateKey,
  );
  const certificate = signed(
    {
      ...span,
      subject: organisation("sluice admission"),
      issuer,
      publicKey: server.publicKey,
      extensions: [
        // digitalSignature and keyEncipherment
        extension(oid(2, 5, 29, 15), critical, tlv(0x03, Buffer.from([5, 0xa0]))),
        extension(oid(2, 5, 29, 37), optional, serverAuth),
        extension(oid(2, 5, 29, 19), critical, sequence()),
        extension(oid(2, 5, 29, 17), optional, sequence(...hosts.map(alternative))),
      ],
    },
    authority.privateKey,
  );
  const key = server.privateKey.export({ type: "sec1", format: "pem" }).toString();
  return { ca: pem("CERTIFICATE", ca), certificate: pem("CERTIFICATE", certificate), key };
}

function signed(body: Body, key: KeyObject): Buffer {
  const content = sequence(
    tlv(0xa0, tlv(0x02, Buffer.from([2]))),
    tlv(0x02, randomSerial()),
    algorithm,
    body.issuer,
    sequence(time(body.from), time(body.until)),
    body.subject,
    body.publicKey.export({ type: "spki", format: "der" }),
    tlv(0xa3, sequence(...body.extensions)),
  );
  return sequence(content, algorithm, bitString(sign("sha256", content, key)));
}

function organisation(name: string): Buffer {
  return sequence(tlv(0x31, sequence(oid(2, 5, 4, 10), utf8(name))));
}

function alternative(host: string): Buffer {
  return isIP(host) === 0 ? tlv(0x82, Buffer.from(host, "ascii")) : tlv(0x87, addressBytes(host));
}

function addressBytes(address: string): Buffer {
  if (!isIPv6(address)) return Buffer.from(address.split(".").map(Number));
  // The URL parser writes out what "::" and a dotted tail leave out.
  const [head = "", tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split("::");
  const left = head === "" ? [] : head.split(":");
  const right = tail === undefined || tail === "" ? [] : tail.split(":");
  const middle = new Array<string>(8 - left.length - right.length).fill("0");
  const words = [...left, ...(tail === undefined ? [] : middle), ...right];
  return Buffer.from(words.flatMap((word) => [Number.parseInt(word, 16) >> 8, Number.parseInt(word, 16) & 0xff]));
}
