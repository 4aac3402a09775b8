/** One file out of a tar stream (ustar, GNU or pax), without keeping more than a chunk of it. */

const block = 512;

class TarReader {
  readonly #source: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(source: AsyncIterable<Buffer>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /** At most `size` bytes, at least one; undefined at the end. */
  async some(size: number): Promise<Buffer | undefined> {
    while (this.#rest.length === 0) {
      const next = await this.#source.next();
      if (next.done === true) return undefined;
      this.#rest = next.value;
    }
    const part = this.#rest.subarray(0, size);
    this.#rest = this.#rest.subarray(part.length);
    return part;
  }

  /** Throws when the archive ends before. */
  async *parts(size: number): AsyncGenerator<Buffer> {
    for (let left = size; left > 0; ) {
      const part = await this.some(left);
      if (part === undefined) throw new Error("the archive is cut short");
      left -= part.length;
      yield part;
    }
  }

  async skip(size: number): Promise<void> {
    for await (const _ of this.parts(size));
  }

  /** undefined at the end, of the archive or of the stream. */
  async header(): Promise<{ readonly name: string; readonly size: number } | undefined> {
    const parts: Buffer[] = [];
    for (let left = block; left > 0; ) {
      const part = await this.some(left);
      if (part === undefined && parts.length === 0) return undefined;
      if (part === undefined) throw new Error("the archive is cut short");
      left -= part.length;
      parts.push(part);
    }
    return entryOf(Buffer.concat(parts));
  }
}

function entryOf(header: Buffer): { readonly name: string; readonly size: number } | undefined {
  if (header[0] === 0) return undefined;
  const text = (from: number, length: number) => header.toString("latin1", from, from + length).replace(/\0.*$/s, "");
  const octal = text(124, 12).trim();
  if (!/^[0-7]+$/.test(octal)) throw new Error("it is no tar archive");
  return { name: text(0, 100), size: Number.parseInt(octal, 8) };
}

/** Content of the first member with that file name, in whatever folder; nothing where there is none. Reads the stream to its end. */
export async function* tarMember(tar: AsyncIterable<Buffer>, fileName: string): AsyncGenerator<Buffer> {
  const reader = new TarReader(tar);
  let found = false;
  for (let entry = await reader.header(); entry !== undefined; entry = await reader.header()) {
    if (!found && entry.name.split("/").at(-1) === fileName) {
      found = true;
      yield* reader.parts(entry.size);
    } else {
      await reader.skip(entry.size);
    }
    await reader.skip((block - (entry.size % block)) % block);
  }
  while ((await reader.some(block)) !== undefined);
}
