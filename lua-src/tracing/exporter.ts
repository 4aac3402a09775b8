/** Spans of this worker, until the controller has taken them. A full queue drops new ones: tracing never holds up requests. */
import { tellController } from "../base/controller-socket";
import { logWarning } from "../base/log";
import { currentGeneral } from "../configuration/general";
import type { SpanExportDocument } from "../wire";

const left = ngx.shared.get("spans_left")!;
let waiting: string[] = [];
let count = 0;
let lost = 0;
/** When the next timer that is set will deliver, seconds. */
let due = math.huge;
let sending = false;
/** Told once, not at each try. */
let told = false;

/** What went wrong; undefined: the controller has them. */
function deliver(socketPath: string, spans: readonly string[], number: number): string | undefined {
  const content = table.concat(spans as string[]);
  const [answer, problem] = tellController(socketPath, (socket) => {
    const [, failure] = socket.send(`${number} ${content.length}\n${content}`);
    return failure;
  });
  return answer === "ok" ? undefined : (answer ?? problem);
}

/** At most `most` of those that wait the longest. */
function take(most: number): LuaMultiReturn<[string[], number]> {
  if (count <= most) {
    const [all, number] = [waiting, count];
    waiting = [];
    count = 0;
    return $multi(all, number);
  }
  const some: string[] = [];
  const rest: string[] = [];
  for (const i of $range(0, count - 1)) {
    const list = i < most ? some : rest;
    list[i < most ? i : i - most] = waiting[i]!;
  }
  waiting = rest;
  count -= most;
  return $multi(some, most);
}

/** In front of those that came meanwhile, as far as there is room. */
function putBack(spans: string[], number: number, queue: number): void {
  const room = math.max(0, queue - number);
  for (const i of $range(0, math.min(count, room) - 1)) {
    spans[number + i] = waiting[i]!;
  }
  lost += math.max(0, count - room);
  waiting = spans;
  count = math.min(queue, number + count);
}

function tellProblem(problem: string): void {
  if (!told) {
    told = true;
    logWarning("spans cannot be delivered, they are kept", problem);
  }
}

/** True: there is nothing left to send. */
function sendBatch({ socket, batch, queue }: SpanExportDocument): boolean {
  const [spans, number] = take(batch);
  const [ok, problem] = pcall(deliver, socket, spans, number);
  if (ok && problem === undefined) {
    told = false;
    return count === 0;
  }
  putBack(spans, number, queue);
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
  for (const i of $range(0, count - 1)) {
    const [length] = left.lpush("spans", waiting[i]!);
    lost += length === undefined ? 1 : 0;
  }
  waiting = [];
  count = 0;
  tellLost();
}

/** Adds what workers on their way out have left, as far as there is room. */
function takeOver(queue: number): void {
  while (count < queue) {
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
  while (target !== undefined && count > 0 && !sendBatch(target)) {
    target = currentGeneral().tracing?.export;
  }
  sending = false;
  if (target === undefined) {
    waiting = [];
    count = 0;
  }
  tellLost();
  if (count > 0 && target !== undefined) {
    schedule(target.delay);
  }
}

/** In the log phase. */
function addSpan(span: string, { queue, batch, delay }: SpanExportDocument): void {
  if (count >= queue) {
    lost += 1;
    return;
  }
  waiting[count] = span;
  count += 1;
  if (!sending) {
    // once for each batch: while the controller is away more pile up, and the delay holds
    schedule(count === batch ? 0 : delay);
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
