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
  readonly next: Hold | undefined;
}

const byNumber = new LuaTable<string, Hold>();
/** `open` is 0 most of the time: then nobody need look. */
const holds = { open: 0, last: 0 };

/** The request now holds `key`. */
function hold(holder: Holder, key: string): Hold {
  let number = ngx.var.get("sluice_holds");
  if (number === undefined || number === "") {
    holds.last += 1;
    number = `${holds.last}`;
    ngx.var.set("sluice_holds", number);
    holds.open += 1;
  }
  const taken: Hold = { holder, key, next: byNumber.get(number) };
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

export { endHolds, hold, holds };
