/** CRC-32 (IEEE) of a text with a few bytes appended: what nginx' ketama points are made of. */

const table = new LuaTable<number, number>();
for (const i of $range(0, 255)) {
  let value = i;
  for (const _ of $range(1, 8)) {
    value = (value & 1) === 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  }
  table.set(i, value);
}

function step(state: number, byte: number): number {
  return table.get((state ^ byte) & 255)! ^ (state >>> 8);
}

/** State after the bytes of the text, to go on from. */
function startCrc(text: string): number {
  let state = -1;
  for (const i of $range(1, text.length)) {
    state = step(state, string.byte(text, i));
  }
  return state;
}

/** The checksum (0 to 2^32-1) of what led to the state followed by the number as four bytes, lowest first. */
function endCrc(state: number, number: number): number {
  const a = step(state, number & 255);
  const b = step(a, (number >>> 8) & 255);
  const c = step(b, (number >>> 16) & 255);
  const d = step(c, (number >>> 24) & 255);
  return (d ^ -1) % 4294967296;
}

export { endCrc, startCrc };
