/**
 * Consistent hashing: every id has 160 points on a circle of 32 bits, a key belongs to the next point clockwise. The
 * points are those of ketama as nginx and the retired controller make them, so old cookies lead to the same peers.
 */
import { typeof as arrayType, type NumberArray } from "ffi";
import { endCrc, startCrc } from "../base/crc32";

const pointsPerId = 160;
const makeArray = arrayType("uint32_t[?]");

interface Points {
  hashes: NumberArray;
  owners: NumberArray;
}

function emptyPoints(size: number): Points {
  return { hashes: makeArray(size), owners: makeArray(size) };
}

/** One pass of a radix sort over the byte at `shift`. */
function sortByte(from: Points, to: Points, size: number, shift: number): void {
  const starts = makeArray(257);
  for (const i of $range(0, size - 1)) {
    const byte = ((from.hashes.get(i) >>> shift) & 255) + 1;
    starts.set(byte, starts.get(byte) + 1);
  }
  for (const i of $range(1, 256)) {
    starts.set(i, starts.get(i) + starts.get(i - 1));
  }
  for (const i of $range(0, size - 1)) {
    const hash = from.hashes.get(i);
    const byte = (hash >>> shift) & 255;
    const place = starts.get(byte);
    starts.set(byte, place + 1);
    to.hashes.set(place, hash);
    to.owners.set(place, from.owners.get(i));
  }
}

function makePoints(ids: LuaTable<number, string>, count: number): Points {
  const size = count * pointsPerId;
  const [points, other] = [emptyPoints(size), emptyPoints(size)];
  for (const owner of $range(1, count)) {
    const start = startCrc(ids.get(owner)!);
    let hash = 0;
    for (const i of $range(0, pointsPerId - 1)) {
      hash = endCrc(start, hash);
      points.hashes.set((owner - 1) * pointsPerId + i, hash);
      points.owners.set((owner - 1) * pointsPerId + i, owner);
    }
  }
  sortByte(points, other, size, 0);
  sortByte(other, points, size, 8);
  sortByte(points, other, size, 16);
  sortByte(other, points, size, 24);
  return points;
}

export class Ring {
  private readonly points: Points;
  readonly size: number;

  /** ids from 1 to count; count is at least 1. */
  constructor(ids: LuaTable<number, string>, count: number) {
    this.points = makePoints(ids, count);
    this.size = count * pointsPerId;
  }

  /** The point that a key belongs to, from 0. */
  pointOf(key: string): number {
    const hash = ngx.crc32_long(key);
    const hashes = this.points.hashes;
    let [low, high] = [0, this.size];
    while (low < high) {
      const middle = math.floor((low + high) / 2);
      if (hashes.get(middle) < hash) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low === this.size ? 0 : low;
  }

  /** Place of the id that a point belongs to. */
  ownerOf(point: number): number {
    return this.points.owners.get(point);
  }

  /** Clockwise from the point, the first owner that fits, each asked about once; 0: none does. */
  first(point: number, fits: (this: void, owner: number) => boolean): number {
    const met = new LuaTable<number, true>();
    for (const i of $range(point, point + this.size - 1)) {
      const owner = this.ownerOf(i % this.size);
      if (met.get(owner) === undefined) {
        met.set(owner, true);
        if (fits(owner)) {
          return owner;
        }
      }
    }
    return 0;
  }

  /** Place of the id that a key belongs to. */
  find(key: string): number {
    return this.ownerOf(this.pointOf(key));
  }
}
