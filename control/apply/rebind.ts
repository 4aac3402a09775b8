/** Changes of listeners that a reload cannot bring: nginx opens the new ones while it still holds the old ones. */

interface Listener {
  /** "" is all addresses. */
  readonly address: string;
  readonly port: string;
  readonly v6: boolean;
  readonly reuseport: boolean;
}

/** Texts of nginx.conf. True: a new address overlaps with one that is held, and they may not share the port. */
export function needsRestart(before: string, after: string): boolean {
  const held = listeners(before);
  return listeners(after).some((a) => !held.some((h) => isSame(h, a)) && held.some((h) => overlaps(h, a)));
}

function listeners(text: string): Listener[] {
  return [...text.matchAll(/^\s*listen (?:(\[[^\]]+\]|[\d.]+):)?(\d+)( [^;]*)?;/gm)].map(([, address = "", port = "", rest = ""]) => ({
    address: address === "[::]" || address === "0.0.0.0" ? "" : address,
    port,
    v6: address.startsWith("["),
    reuseport: /\breuseport\b/.test(rest),
  }));
}

function isSame(a: Listener, b: Listener): boolean {
  return a.address === b.address && a.port === b.port && a.v6 === b.v6;
}

function overlaps(held: Listener, wanted: Listener): boolean {
  const meet = held.address === "" || wanted.address === "";
  return held.port === wanted.port && held.v6 === wanted.v6 && meet && !(held.reuseport && wanted.reuseport);
}
