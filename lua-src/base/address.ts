/** IP addresses and networks as the bytes nginx has them ($binary_remote_addr): 4 or 16 of them. */

/** A network: the bytes that must be equal and, if the length is not a multiple of 8, one byte in part. */
export interface Network {
  readonly size: number;
  readonly whole: string;
  /** How many values the partial byte may span (256 >> bits), 0 without one. */
  readonly span: number;
  readonly partial: number;
}

function parseV4(text: string): string | undefined {
  const [a, b, c, d] = string.match(text, "^(%d%d?%d?)%.(%d%d?%d?)%.(%d%d?%d?)%.(%d%d?%d?)$");
  if (a === undefined || b === undefined || c === undefined || d === undefined) {
    return undefined;
  }
  const [w, x, y, z] = [tonumber(a)!, tonumber(b)!, tonumber(c)!, tonumber(d)!];
  return w < 256 && x < 256 && y < 256 && z < 256 ? string.char(w, x, y, z) : undefined;
}

/** Groups of four hex digits; a trailing dotted quad counts as two groups. */
function parseGroups(text: string): string | undefined {
  if (text === "") {
    return "";
  }
  let out = "";
  for (const [part] of string.gmatch(`${text}:`, "([^:]*):")) {
    const v4 = parseV4(part!);
    if (v4 !== undefined) {
      out += v4;
      continue;
    }
    const [digits] = string.match(part!, "^%x%x?%x?%x?$");
    if (digits === undefined) {
      return undefined;
    }
    const value = tonumber(digits, 16)!;
    out += string.char(math.floor(value / 256), value % 256);
  }
  return out;
}

function parseV6(text: string): string | undefined {
  const [gap] = string.find(text, "::", 1, true);
  if (gap === undefined) {
    const bytes = parseGroups(text);
    return bytes !== undefined && bytes.length === 16 ? bytes : undefined;
  }
  const head = parseGroups(string.sub(text, 1, gap - 1));
  const tail = parseGroups(string.sub(text, gap + 2));
  if (head === undefined || tail === undefined || head.length + tail.length > 14) {
    return undefined;
  }
  return head + string.rep("\0", 16 - head.length - tail.length) + tail;
}

/** Bytes of an address, IPv6 without brackets; undefined when it is none. */
function parseAddress(text: string): string | undefined {
  return parseV4(text) ?? parseV6(text);
}

/** "10.0.0.0/8", "::1", host bits allowed; undefined when it is none. */
function parseNetwork(text: string): Network | undefined {
  const [address, digits] = string.match(text, "^([^/]+)/?(%d*)$");
  const bytes = address === undefined ? undefined : parseAddress(address);
  if (bytes === undefined || digits === undefined) {
    return undefined;
  }
  const bits = digits === "" ? bytes.length * 8 : tonumber(digits)!;
  if (bits > bytes.length * 8) {
    return undefined;
  }
  const count = math.floor(bits / 8);
  const rest = bits - count * 8;
  const span = rest === 0 ? 0 : math.pow(2, 8 - rest);
  const byte = rest === 0 ? 0 : string.byte(bytes, count + 1);
  return { size: bytes.length, whole: string.sub(bytes, 1, count), span, partial: rest === 0 ? 0 : byte - (byte % span) };
}

function contains(network: Network, bytes: string): boolean {
  const count = network.whole.length;
  if (bytes.length !== network.size || string.sub(bytes, 1, count) !== network.whole) {
    return false;
  }
  if (network.span === 0) {
    return true;
  }
  const byte = string.byte(bytes, count + 1);
  return byte - (byte % network.span) === network.partial;
}

export { contains, parseAddress, parseNetwork };
