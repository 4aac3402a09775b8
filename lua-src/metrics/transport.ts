/** Lines of metrics → the controller. Those that it could not take are sent again before newer ones are. */
import { decode, encode } from "cjson.safe";
import { deliveryName, tellController } from "../base/controller-socket";
import { logWarning } from "../base/log";
import { settings } from "../configuration/settings";
import { endOfDelivery, type MetricsLine } from "../wire";

const left = ngx.shared.get("metrics_left");
const linesPerPiece = 200;
let kept: readonly MetricsLine[] = [];
/** Of the delivery that was sent last. */
let name = "";
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
  const [, problem] = tellController(settings.metrics!.socket, (socket) => {
    const failure = sendPieces(socket, lines);
    if (failure === undefined) {
      socket.send(`${endOfDelivery}${name}\n`);
    }
    return failure;
  });
  return problem;
}

/** Whether newer lines may be taken: until then they add up where they are counted. */
function isFree(): boolean {
  return !sending && kept.length === 0;
}

/** In a timer, and only when free. */
function send(lines: readonly MetricsLine[]): void {
  if (lines.length > 0) {
    name = deliveryName();
    sendNamed(lines);
  }
}

function sendNamed(lines: readonly MetricsLine[]): void {
  sending = true;
  const [ok, problem] = pcall(deliver, lines);
  sending = false;
  if (ok && problem === undefined) {
    told = false;
    return;
  }
  kept = lines;
  if (!told) {
    told = true;
    logWarning("metrics cannot be delivered, they are kept", tostring(problem));
  }
  if (leaving) {
    handOver([]);
  }
}

/** In a timer: once more what could not be delivered. */
function sendAgain(): void {
  if (!sending && kept.length > 0) {
    const lines = kept;
    kept = [];
    sendNamed(lines);
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

export { handOver, isFree, send, sendAgain, takeOver };
