/** Lists of addresses and networks, compiled for lookup: one table per prefix length, so the cost does not follow the length of the list. */
import { parseAddress } from "../base/address";
import { logWarning } from "../base/log";
import { readText } from "../configuration/store";
import type { Addresses } from "../wire";

/** IPv4 addresses are numbers, IPv6 ones their first bytes. */
export interface Networks {
  readonly v4: LuaTable<number, LuaTable<number, true>>;
  /** Sizes (2^(32 - bits)) that occur, from 1. */
  readonly v4Sizes: LuaTable<number, number>;
  readonly v4Count: number;
  readonly v6: LuaTable<number, LuaTable<string, true>>;
  readonly v6Bits: LuaTable<number, number>;
  readonly v6Count: number;
}

/** ::ffff:0:0/96. Not as "\\xff" text, which would be compiled to UTF-8. */
const mapped = string.rep("\0", 10) + string.char(255, 255);
const none = new LuaTable<never, true>();

function numberOf(bytes: string, from: number): number {
  const [a, b, c, d] = string.byte(bytes, from, from + 3);
  return ((a! * 256 + b!) * 256 + c!) * 256 + d!;
}

/** The first bits of 16 bytes; whole bytes and, where bits are left, one more with the rest zero. */
function maskV6(bytes: string, bits: number): string {
  const rest = bits % 8;
  const count = (bits - rest) / 8;
  if (rest === 0) {
    return string.sub(bytes, 1, count);
  }
  const byte = string.byte(bytes, count + 1);
  return string.sub(bytes, 1, count) + string.char(byte - (byte % math.pow(2, 8 - rest)));
}

interface Draft {
  readonly v4: LuaTable<number, LuaTable<number, true>>;
  readonly v6: LuaTable<number, LuaTable<string, true>>;
}

function addV4(draft: Draft, address: number, bits: number): void {
  const size = math.pow(2, 32 - bits);
  const known = draft.v4.get(size) ?? new LuaTable<number, true>();
  known.set(address - (address % size), true);
  draft.v4.set(size, known);
}

/** Text that is no address or network is left out: who sent it has checked it. */
function add(draft: Draft, text: string): void {
  const [address, digits] = string.match(text, "^([^/]+)/?(%d*)$");
  const bytes = address === undefined ? undefined : parseAddress(address);
  const width = (bytes ?? "").length * 8;
  const bits = digits === undefined || digits === "" ? width : tonumber(digits)!;
  if (bytes === undefined || bits > width) {
    logWarning("no address or network", text);
    return;
  }
  if (width === 32) {
    addV4(draft, numberOf(bytes, 1), bits);
  } else if (bits >= 96 && string.sub(bytes, 1, 12) === mapped) {
    addV4(draft, numberOf(bytes, 13), bits - 96);
  } else {
    const known = draft.v6.get(bits) ?? new LuaTable<string, true>();
    known.set(maskV6(bytes, bits), true);
    draft.v6.set(bits, known);
  }
}

function keysOf<V>(map: LuaTable<number, V>): LuaMultiReturn<[LuaTable<number, number>, number]> {
  const keys = new LuaTable<number, number>();
  let count = 0;
  for (const [key] of pairs(map)) {
    count += 1;
    keys.set(count, key);
  }
  return $multi(keys, count);
}

function compile(list: string): Networks {
  const draft: Draft = { v4: new LuaTable(), v6: new LuaTable() };
  for (const [text] of string.gmatch(list, "[^,]+")) {
    add(draft, text!);
  }
  const [v4Sizes, v4Count] = keysOf(draft.v4);
  const [v6Bits, v6Count] = keysOf(draft.v6);
  return { v4: draft.v4, v4Sizes, v4Count, v6: draft.v6, v6Bits, v6Count };
}

/** Equal lists are one object, however many routes have them. Weak: it goes with the last of those. */
const known = setmetatable(new LuaTable<string, Networks>(), { __mode: "v" });

/** Of a list, or of the key of one. Throws when there is no such list: nobody may pass by it then. */
function networksOf(list: Addresses): Networks {
  const text = type(list) === "string" ? readText("networks", list as string) : table.concat(list as string[], ",");
  if (text === undefined) {
    error(`there is no list of addresses ${list as string}`);
  }
  let networks = known.get(text!) as Networks | undefined;
  if (networks === undefined) {
    networks = compile(text!);
    known.set(text!, networks);
  }
  return networks;
}

function holdsV4({ v4, v4Sizes, v4Count }: Networks, address: number): boolean {
  for (const i of $range(1, v4Count)) {
    const size = v4Sizes.get(i);
    if ((v4.get(size) ?? none).get((address - (address % size)) as never) !== undefined) {
      return true;
    }
  }
  return false;
}

/** `bytes` as in $binary_remote_addr; empty for a unix socket, which is in no network. An IPv4 address in IPv6 form is an IPv4 address. */
function contains(networks: Networks, bytes: string): boolean {
  if (bytes.length === 4) {
    return holdsV4(networks, numberOf(bytes, 1));
  }
  if (bytes.length !== 16) {
    return false;
  }
  if (string.sub(bytes, 1, 12) === mapped) {
    return holdsV4(networks, numberOf(bytes, 13));
  }
  const { v6, v6Bits, v6Count } = networks;
  for (const i of $range(1, v6Count)) {
    const bits = v6Bits.get(i);
    if (v6.get(bits).get(maskV6(bytes, bits)) !== undefined) {
      return true;
    }
  }
  return false;
}

export { contains, networksOf };
