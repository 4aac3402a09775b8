/** A MaxMind database (format 2.0, IPv4, 24-bit records) with a few networks, for tests. */

export type GeoValue = string | number | GeoRecord;
export interface GeoRecord {
  readonly [key: string]: GeoValue;
}

const types = { double: 3, text: 2, uint16: 5, uint32: 6, map: 7, uint64: 9, array: 11 } as const;

function control(type: number, size: number): Buffer {
  const short = Math.min(size, 29);
  const head = type < 8 ? [(type << 5) | short] : [short, type - 7];
  return Buffer.from(size < 29 ? head : [...head, size - 29]);
}

function number(type: number, value: number): Buffer {
  const bytes = Buffer.from(
    value === 0 ? "" : value.toString(16).padStart(value.toString(16).length + (value.toString(16).length % 2), "0"),
    "hex",
  );
  return Buffer.concat([control(type, bytes.length), bytes]);
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([control(types.text, bytes.length), bytes]);
}

function encode(value: GeoValue): Buffer {
  if (typeof value === "string") return text(value);
  if (typeof value === "number") return number(types.uint32, value);
  const fields = Object.entries(value);
  return Buffer.concat([control(types.map, fields.length), ...fields.flatMap(([key, item]) => [text(key), encode(item)])]);
}

type Branch = number | { readonly data: number } | undefined;

/** Networks as "a.b.c.d/n", none within another. */
export function geoDatabase(networks: Readonly<Record<string, GeoRecord>>): Buffer {
  const nodes: [Branch, Branch][] = [[undefined, undefined]];
  let data = Buffer.alloc(0);
  for (const [network, record] of Object.entries(networks)) {
    const bits = bitsOf(network);
    let at = 0;
    for (const bit of bits.slice(0, -1)) {
      let next = nodes[at]![bit];
      if (typeof next !== "number") {
        next = nodes.push([undefined, undefined]) - 1;
        nodes[at]![bit] = next;
      }
      at = next;
    }
    nodes[at]![bits.at(-1)!] = { data: data.length };
    data = Buffer.concat([data, encode(record)]);
  }
  const pointer = (b: Branch) => (b === undefined ? nodes.length : typeof b === "number" ? b : nodes.length + 16 + b.data);
  const tree = Buffer.concat(nodes.flat().map((b) => Buffer.from(pointer(b).toString(16).padStart(6, "0"), "hex")));
  return Buffer.concat([tree, Buffer.alloc(16), data, Buffer.from([0xab, 0xcd, 0xef]), Buffer.from("MaxMind.com"), metadata(nodes.length)]);
}

function bitsOf(network: string): (0 | 1)[] {
  const [address = "", length = ""] = network.split("/");
  const all = address.split(".").map((part) => Number(part).toString(2).padStart(8, "0"));
  return [...all.join("").slice(0, Number(length))].map((bit) => (bit === "1" ? 1 : 0));
}

function metadata(nodes: number): Buffer {
  const fields: [string, Buffer][] = [
    ["node_count", number(types.uint32, nodes)],
    ["record_size", number(types.uint16, 24)],
    ["ip_version", number(types.uint16, 4)],
    ["database_type", text("Test")],
    ["languages", Buffer.concat([control(types.array, 1), text("en")])],
    ["binary_format_major_version", number(types.uint16, 2)],
    ["binary_format_minor_version", number(types.uint16, 0)],
    ["build_epoch", number(types.uint64, 1_700_000_000)],
    ["description", encode({ en: "test" })],
  ];
  return Buffer.concat([control(types.map, fields.length), ...fields.flatMap(([key, value]) => [text(key), value])]);
}
