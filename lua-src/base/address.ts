/** IP addresses as the bytes nginx has them ($binary_remote_addr): 4 or 16 of them. */

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

export { parseAddress };
