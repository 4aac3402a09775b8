/** A stream of bytes → its lines as text, without the newline; empty lines and an unfinished last one are left out. */
export async function* linesOf(stream: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let parts: Buffer[] = [];
  for await (const chunk of stream) {
    let from = 0;
    for (let end = chunk.indexOf(10, from); end !== -1; end = chunk.indexOf(10, from)) {
      let line = chunk.subarray(from, end);
      from = end + 1;
      if (parts.length > 0) {
        line = Buffer.concat([...parts, line]);
        parts = [];
      }
      if (line.length > 0) yield line.toString("utf8");
    }
    if (from < chunk.length) parts.push(chunk.subarray(from));
  }
}
