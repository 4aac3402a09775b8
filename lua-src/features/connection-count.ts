/**
 * Requests in progress by key, over all workers. Each worker also notes what it holds itself, so that the next one to
 * start can take back what a crashed one never returned.
 */
import { C, cdef, errno } from "ffi";
import { type Holder, hold } from "../base/holds";
import { logWarning } from "../base/log";

const counts = ngx.shared.get("rate_limits")!;
const noSuchProcess = 3;

cdef("int kill(int pid, int sig);");

function noteOf(pid: number, key: string): string {
  return `h:${pid}:${key}`;
}

/** Less by so many; what has come to nothing is removed. */
function lower(key: string, by: number): void {
  const [left] = counts.incr(key, -by);
  if (left !== undefined && left <= 0) {
    counts.delete(key);
  }
}

const holder: Holder = {
  giveBack(key: string): void {
    lower(key, 1);
    lower(noteOf(ngx.worker.pid(), key), 1);
  },
};

/** True: the request counts until it is over (`lasting`), or an internal redirect leads it elsewhere. False: there are `most` already. */
function enter(key: string, most: number, lasting: boolean): boolean {
  const [now, problem, forced] = counts.incr(key, 1, 0);
  if (now === undefined) {
    logWarning("connection count not kept:", `${problem}`);
    return true;
  }
  if (forced === true) {
    logWarning("rate_limits is full,", "older counts were dropped; see lua-shared-dicts");
  }
  if (now > most) {
    lower(key, 1);
    return false;
  }
  counts.incr(noteOf(ngx.worker.pid(), key), 1, 0);
  hold(holder, key, lasting);
  return true;
}

function isAlive(pid: number): boolean {
  return C.kill(pid, 0) === 0 || errno() !== noSuchProcess;
}

function takeBack(pid: number): void {
  const prefix = `h:${pid}:`;
  for (const note of counts.get_keys(0)) {
    if (string.sub(note, 1, prefix.length) === prefix) {
      const [held] = counts.get(note);
      if (held !== undefined) {
        lower(string.sub(note, prefix.length + 1), held as number);
      }
      counts.delete(note);
    }
  }
}

/** Of several that start at once only one takes back what a dead worker held. */
function takeBackOnce(pid: number): void {
  const [mine] = counts.add(`t:${pid}`, 1, 60);
  if (mine) {
    takeBack(pid);
  }
}

/** At the start of a worker: it takes a free place in the list of workers, and whoever is no more leaves it. */
function joinWorkers(): void {
  const me = ngx.worker.pid();
  let joined = false;
  let place = 0;
  while (true) {
    place += 1;
    const key = `w:${place}`;
    const [other] = counts.get(key);
    if (other === undefined && joined) {
      return;
    }
    if (other !== undefined && !isAlive(other as number)) {
      takeBackOnce(other as number);
      counts.delete(key);
    }
    if (!joined) {
      [joined] = counts.add(key, me);
    }
  }
}

export { enter, joinWorkers };
