/** Lines of metrics → the controller; what it cannot take now is kept and sent later. */
import { decode, encode } from "cjson.safe";
import { logWarning } from "../base/log";
import { settings } from "../configuration/settings";
import type { MetricsLine } from "../wire";

const left = ngx.shared.get("metrics_left");
const linesPerPiece = 200;
/** Lines kept while the controller is away: beyond this the oldest are lost, with a word in the log. */
const mostKept = 50_000;
let kept: MetricsLine[] = [];
let sending = false;
/** On its way out: what is not delivered goes to the workers that stay. */
let leaving = false;
/** Told once, not each second. */
let told = false;

/** Encoding stalls the worker: a piece at a time. */
function sendPieces(socket: TcpSocket, lines: readonly MetricsLine[]): string | undefined {
  let piece: string[] = [];
  for (const line of lines) {
    const [text] = encode(line);
    piece[piece.length] = text!;
    if (piece.length >= linesPerPiece) {
      piece[piece.length] = "";
      const [sent, problem] = socket.send(table.concat(piece, "\n"));
      if (sent === undefined) {
        return problem;
      }
      piece = [];
      ngx.sleep(0);
    }
  }
  piece[piece.length] = "";
  const [, problem] = socket.send(table.concat(piece, "\n"));
  return problem;
}

/** The controller answers one line when it has taken all. */
function deliver(lines: readonly MetricsLine[]): string | undefined {
  const socket = ngx.socket.tcp();
  socket.settimeouts(1000, 5000, 5000);
  const [connected, refusal] = socket.connect(`unix:${settings.metrics!.socket}`);
  if (connected === undefined) {
    return refusal ?? "no connection";
  }
  let problem = sendPieces(socket, lines);
  if (problem === undefined) {
    socket.send("\n");
    const [answer, silence] = socket.receive("*l");
    problem = answer === undefined ? (silence ?? "no answer") : undefined;
  }
  socket.close();
  return problem;
}

function keep(lines: readonly MetricsLine[]): void {
  for (const line of lines) {
    kept[kept.length] = line;
  }
  if (kept.length > mostKept) {
    logWarning("metrics are lost, the controller does not take them", `${kept.length} lines`);
    kept = [];
  }
}

/** In a timer. One delivery at a time: while one waits, the rest gathers. */
function send(lines: readonly MetricsLine[]): void {
  keep(lines);
  if (kept.length === 0 || sending) {
    return;
  }
  const now = kept;
  kept = [];
  sending = true;
  const [ok, problem] = pcall(deliver, now);
  sending = false;
  if (ok && problem === undefined) {
    told = false;
  } else {
    if (!told) {
      told = true;
      logWarning("metrics cannot be delivered, they are kept", tostring(problem));
    }
    const younger = kept;
    kept = now;
    keep(younger);
    if (leaving) {
      handOver([]);
    }
  }
}

/** To the workers that stay, by shared memory. */
function handOver(lines: readonly MetricsLine[]): void {
  leaving = true;
  let lost = 0;
  for (const line of [...kept, ...lines]) {
    const [text] = encode(line);
    const [length] = left === undefined ? [undefined] : left.lpush("lines", text!);
    if (length === undefined) {
      lost += 1;
    }
  }
  kept = [];
  if (lost > 0) {
    logWarning("metrics are lost, there is no room to hand them over", `${lost} lines`);
  }
}

/** Adds what workers on their way out have left. */
function takeOver(lines: MetricsLine[]): void {
  for (;;) {
    const [text] = left === undefined ? [undefined] : left.rpop("lines");
    if (text === undefined) {
      return;
    }
    const [line] = decode(text as string);
    if (line !== undefined) {
      lines[lines.length] = line as MetricsLine;
    }
  }
}

export { handOver, send, takeOver };
