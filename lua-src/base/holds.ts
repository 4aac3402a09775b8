/**
 * What a request has taken and must give back when it is over, whatever becomes of it: places under a connection
 * limit, its share of a peer's load. Remembered by a number in an nginx variable, because ngx.ctx does not survive an
 * internal redirect to an error page. Locations that such requests can end in have log_by_lua.
 */

/** Who takes back what is known by the key. */
export interface Holder {
  giveBack(key: string): void;
}

export interface Hold {
  readonly holder: Holder;
  /** May be changed while it is held. */
  key: string;
  /** The client's: an internal redirect does not end it. */
  readonly lasting: boolean;
  readonly next: Hold | undefined;
}

const byNumber = new LuaTable<string, Hold>();
/** `open` is 0 most of the time: then nobody need look. */
const holds = { open: 0, last: 0 };

/** The request now holds `key`. */
function hold(holder: Holder, key: string, lasting: boolean): Hold {
  let number = ngx.var.get("sluice_holds");
  if (number === undefined || number === "") {
    holds.last += 1;
    number = `${holds.last}`;
    ngx.var.set("sluice_holds", number);
    holds.open += 1;
  }
  const taken: Hold = { holder, key, lasting, next: byNumber.get(number) };
  byNumber.set(number, taken);
  return taken;
}

/** Gives back all that the current request holds. */
function endHolds(): void {
  const number = ngx.var.get("sluice_holds");
  if (number === undefined || number === "") {
    return;
  }
  let held: Hold | undefined = byNumber.get(number);
  byNumber.delete(number);
  ngx.var.set("sluice_holds", "");
  holds.open -= 1;
  while (held !== undefined) {
    held.holder.giveBack(held.key);
    held = held.next;
  }
}

/** The request is routed anew, as its backend asked: what it held of that backend is free, the client's places are not. */
function endPassingHolds(): void {
  const number = ngx.var.get("sluice_holds");
  if (number === undefined || number === "") {
    return;
  }
  let held: Hold | undefined = byNumber.get(number);
  let kept: Hold | undefined;
  while (held !== undefined) {
    if (held.lasting) {
      kept = { holder: held.holder, key: held.key, lasting: true, next: kept };
    } else {
      held.holder.giveBack(held.key);
    }
    held = held.next;
  }
  if (kept === undefined) {
    byNumber.delete(number);
    ngx.var.set("sluice_holds", "");
    holds.open -= 1;
  } else {
    byNumber.set(number, kept);
  }
}

export { endHolds, endPassingHolds, hold, holds };
