/** Spans of this worker, until the controller has taken them. A full queue drops new ones: tracing never holds up requests. */
import { deliveryName, tellController } from "../base/controller-socket";
import { logWarning } from "../base/log";
import { currentGeneral } from "../configuration/general";
import type { SpanExportDocument } from "../wire";

interface Batch {
  readonly name: string;
  readonly spans: string[];
  readonly count: number;
}

const left = ngx.shared.get("spans_left")!;
let waiting: string[] = [];
let count = 0;
/** On its way, or not answered for: it is sent again as it is. */
let batch: Batch | undefined;
let lost = 0;
/** When the next timer that is set will deliver, seconds. */
let due = math.huge;
let sending = false;
/** Told once, not at each try. */
let told = false;

/** What went wrong; undefined: the controller has them. */
function deliver(socketPath: string, { name, spans, count: number }: Batch): string | undefined {
  const content = table.concat(spans);
  const [answer, problem] = tellController(socketPath, (socket) => {
    const [, failure] = socket.send(`${number} ${content.length} ${name}\n${content}`);
    return failure;
  });
  return answer === "ok" ? undefined : (answer ?? problem);
}

/** At most `most` of those that wait the longest. */
function take(most: number): Batch {
  const name = deliveryName();
  if (count <= most) {
    const all: Batch = { name, spans: waiting, count };
    waiting = [];
    count = 0;
    return all;
  }
  const some: string[] = [];
  const rest: string[] = [];
  for (const i of $range(0, count - 1)) {
    const list = i < most ? some : rest;
    list[i < most ? i : i - most] = waiting[i]!;
  }
  waiting = rest;
  count -= most;
  return { name, spans: some, count: most };
}

function isFull(queue: number): boolean {
  return count + (batch === undefined ? 0 : batch.count) >= queue;
}

function isEmpty(): boolean {
  return count === 0 && batch === undefined;
}

function tellProblem(problem: string): void {
  if (!told) {
    told = true;
    logWarning("spans cannot be delivered, they are kept", problem);
  }
}

/** True: there is nothing left to send, or it cannot be sent now. */
function sendBatch({ socket, batch: most }: SpanExportDocument): boolean {
  batch = batch ?? take(most);
  const [ok, problem] = pcall(deliver, socket, batch);
  if (ok && problem === undefined) {
    batch = undefined;
    told = false;
    return count === 0;
  }
  tellProblem(tostring(problem));
  return true;
}

function tellLost(): void {
  if (lost > 0) {
    logWarning("spans are lost, more came than could be delivered", `${lost}`);
    lost = 0;
  }
}

/** A worker on its way out can set no timer when its last requests end: those that stay deliver for it. */
function handOver(): void {
  if (batch !== undefined) {
    leave(batch.spans, batch.count);
  }
  leave(waiting, count);
  forget();
  tellLost();
}

function leave(spans: readonly string[], number: number): void {
  for (const i of $range(0, number - 1)) {
    const [length] = left.lpush("spans", spans[i]!);
    lost += length === undefined ? 1 : 0;
  }
}

function forget(): void {
  batch = undefined;
  waiting = [];
  count = 0;
}

/** Adds what workers on their way out have left, as far as there is room. */
function takeOver(queue: number): void {
  while (!isFull(queue)) {
    const [span] = left.rpop("spans");
    if (span === undefined) {
      return;
    }
    waiting[count] = span;
    count += 1;
  }
}

/** Unless a timer is set that comes earlier. */
function schedule(delay: number): void {
  const at = ngx.now() + delay / 1000;
  if (at < due) {
    const [set] = ngx.timer.at(delay / 1000, onTimer);
    // it is 1, whatever the documentation says
    if (set === undefined || set === false) {
      handOver();
    } else {
      due = at;
    }
  }
}

function onTimer(): void {
  due = math.huge;
  if (sending) {
    return;
  }
  sending = true;
  let target = currentGeneral().tracing?.export;
  while (target !== undefined && !isEmpty() && !sendBatch(target)) {
    target = currentGeneral().tracing?.export;
  }
  sending = false;
  if (target === undefined) {
    forget();
  }
  tellLost();
  if (!isEmpty() && target !== undefined) {
    schedule(target.delay);
  }
}

/** In the log phase. */
function addSpan(span: string, { queue, batch: most, delay }: SpanExportDocument): void {
  if (isFull(queue)) {
    lost += 1;
    return;
  }
  waiting[count] = span;
  count += 1;
  if (!sending) {
    // once for each batch: while the controller is away more pile up, and the delay holds
    schedule(count === most ? 0 : delay);
  }
}

/** In a timer: what workers on their way out have left is delivered by this one. */
function adoptSpans(): void {
  if (sending) {
    return;
  }
  const target = currentGeneral().tracing?.export;
  if (target === undefined) {
    left.delete("spans");
    return;
  }
  const before = count;
  takeOver(target.queue);
  if (count > before) {
    schedule(0);
  }
}

export { addSpan, adoptSpans };
