/**
 * Where a TCP or UDP connection goes, and TLS that is passed through: read at its beginning from files that the controller
 * writes (control/plan/stream-files.ts). nginx tries further addresses only for a name, so a service of several endpoints
 * is a name that nginx's own resolver asks this script for. For njs 0.7.9: no destructuring, no spread, no for-of.
 */

import crypto from "node:crypto";
import fs from "node:fs";

interface Session {
  readonly variables: Readonly<Record<string, string>>;
  on(event: "upstream" | "downstream", callback: (data: Buffer, flags: { readonly last: boolean }) => void): void;
  off(event: "upstream" | "downstream"): void;
  send(data: Buffer, flags: { readonly last: boolean; readonly flush: boolean }): void;
  done(): void;
}

/** Header; labels of 16 hex digits and of "sluice"; root, type, class. */
const questionLength = 12 + 17 + 7 + 1 + 4;
const ipv6 = 28;
const recordLength = 16;
const ipv6RecordLength = 28;
const noSuchName = 3;

/** Of this session: each has a copy of all variables. */
let question: Buffer = Buffer.alloc(0);

function read(s: Session, name: string): string {
  try {
    return fs.readFileSync(`${s.variables.sluice_streams}/${name}`, "utf8");
  } catch (_) {
    return "";
  }
}

/** js_set: "address:port" or "name:port"; empty without an endpoint, and nginx closes the connection. */
function target(s: Session): string {
  const lines = read(s, s.variables.sluice_stream as string).split("\n");
  let left = 0;
  for (let i = 0; i < lines.length; i++) left += Number.parseInt(lines[i] as string, 10) || 0;
  left *= Math.random();
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i] as string;
    left -= Number.parseInt(line, 10) || 0;
    if (left < 0) return line.slice(line.indexOf(" ") + 1);
  }
  return "";
}

/** js_set: "address:port" for a host whose TLS is passed through; else empty. */
function passed(s: Session): string {
  const host = s.variables.ssl_preread_server_name || "";
  return host === "" ? "" : read(s, crypto.createHash("sha256").update(host.toLowerCase()).digest("hex"));
}

/** js_preread: keeps the datagram. */
function ask(s: Session): void {
  s.on("upstream", (data) => {
    question = data;
    s.off("upstream");
    s.done();
  });
}

/** js_filter: puts the answer in place of what `return` says. */
function reply(s: Session): void {
  s.on("downstream", (_, flags) => {
    s.off("downstream");
    s.send(answer(s), { last: flags.last, flush: true });
  });
}

function answer(s: Session): Buffer {
  if (question.length !== questionLength) return Buffer.alloc(0);
  const name = question.toString("utf8", 13, 29);
  const known = /^[0-9a-f]{16}$/.test(name) ? read(s, name) : "";
  const wantsIpv6 = question.readUInt16BE(questionLength - 4) === ipv6;
  const records = Buffer.from(known.split("\n")[wantsIpv6 ? 1 : 0] || "", "hex");
  const out = Buffer.concat([question, records]);
  out.writeUInt16BE(0x8580 + (known === "" ? noSuchName : 0), 2);
  out.writeUInt16BE(records.length / (wantsIpv6 ? ipv6RecordLength : recordLength), 6);
  return out;
}

// what js_import takes
export default { target, passed, ask, reply };
