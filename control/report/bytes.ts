/** A text as UTF-8 in one growing buffer. Strings put together piece by piece cost three times as much to write out. */

const newline = 10;
const zero = 48;

export class Bytes {
  #buffer: Buffer<ArrayBufferLike>;
  /** Two in turn: with a new one for each text, a long answer has the garbage collector at work most of the time. */
  #other: Buffer<ArrayBufferLike> = Buffer.alloc(0);
  #length = 0;

  constructor(size: number) {
    this.#buffer = Buffer.allocUnsafe(size);
  }

  get length(): number {
    return this.#length;
  }

  text(text: string): void {
    this.#reserve(text.length * 3);
    this.#length += this.#buffer.write(text, this.#length);
  }

  /** Few bytes: many are cheaper as text. */
  bytes(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    let to = this.#length;
    for (let i = 0; i < bytes.length; i++) this.#buffer[to++] = bytes[i]!;
    this.#length = to;
  }

  /** What was written at [from, to). */
  again(from: number, to: number): void {
    this.#reserve(to - from);
    this.#buffer.copyWithin(this.#length, from, to);
    this.#length += to - from;
  }

  /** The number as String has it, and the end of the line. */
  number(value: number): void {
    if (!(Number.isInteger(value) && value >= 0 && value < 1e9)) {
      this.text(`${value}\n`);
      return;
    }
    this.#reserve(11);
    let digits = 1;
    for (let power = 10; power <= value; power *= 10) digits += 1;
    let rest = value;
    for (let at = this.#length + digits - 1; at >= this.#length; at--) {
      const next = Math.floor(rest / 10);
      this.#buffer[at] = zero + rest - next * 10;
      rest = next;
    }
    this.#length += digits;
    this.#buffer[this.#length++] = newline;
  }

  /** All that was written; the next text begins. Good until the next but one is begun, that is, until the next take. */
  take(): Buffer {
    const taken = this.#buffer.subarray(0, this.#length);
    [this.#buffer, this.#other] = [this.#other, this.#buffer];
    this.#length = 0;
    return taken;
  }

  #reserve(more: number): void {
    if (this.#length + more <= this.#buffer.length) return;
    const grown = Buffer.allocUnsafe(Math.max(this.#buffer.length * 2, this.#length + more));
    this.#buffer.copy(grown, 0, 0, this.#length);
    this.#buffer = grown;
  }
}
