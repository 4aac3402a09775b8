// Writing ASN.1 DER, as much as certificates and Diffie-Hellman parameters need.

export function tlv(tag: number, content: Buffer): Buffer {
  if (content.length < 0x80) return Buffer.concat([Buffer.from([tag, content.length]), content]);
  const size: number[] = [];
  for (let rest = content.length; rest > 0; rest >>= 8) size.unshift(rest & 0xff);
  return Buffer.concat([Buffer.from([tag, 0x80 | size.length, ...size]), content]);
}

export function sequence(...parts: readonly Buffer[]): Buffer {
  return tlv(0x30, Buffer.concat(parts));
}

export function setOf(...parts: readonly Buffer[]): Buffer {
  return tlv(0x31, Buffer.concat(parts));
}

/** An unsigned integer from its big-endian bytes. */
export function integer(bytes: Buffer): Buffer {
  let from = 0;
  while (from < bytes.length - 1 && bytes[from] === 0) from++;
  const trimmed = bytes.subarray(from);
  return tlv(0x02, trimmed[0]! & 0x80 ? Buffer.concat([Buffer.from([0]), trimmed]) : trimmed);
}

export function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split(".").map(Number);
  const bytes = [first * 40 + second];
  for (const arc of rest) {
    const digits = [arc & 0x7f];
    for (let left = arc >> 7; left > 0; left >>= 7) digits.unshift((left & 0x7f) | 0x80);
    bytes.push(...digits);
  }
  return tlv(0x06, Buffer.from(bytes));
}

export function boolean(value: boolean): Buffer {
  return tlv(0x01, Buffer.from([value ? 0xff : 0]));
}

export function nothing(): Buffer {
  return tlv(0x05, Buffer.alloc(0));
}

export function utf8(text: string): Buffer {
  return tlv(0x0c, Buffer.from(text));
}

export function octets(content: Buffer): Buffer {
  return tlv(0x04, content);
}

export function bits(content: Buffer, unused = 0): Buffer {
  return tlv(0x03, Buffer.concat([Buffer.from([unused]), content]));
}

/** UTCTime or, from 2050 on, GeneralizedTime. */
export function time(at: Date): Buffer {
  const text = `${at.toISOString().replace(/[-:T]/g, "").slice(0, 14)}Z`;
  return at.getUTCFullYear() < 2050 ? tlv(0x17, Buffer.from(text.slice(2))) : tlv(0x18, Buffer.from(text));
}

/** Context-specific tag around other values. */
export function explicit(number: number, ...parts: readonly Buffer[]): Buffer {
  return tlv(0xa0 | number, Buffer.concat(parts));
}

export function pem(label: string, der: Buffer): string {
  return `-----BEGIN ${label}-----\n${der.toString("base64").replace(/.{1,64}/g, "$&\n")}-----END ${label}-----\n`;
}
