/** nginx refuses a conf because of the settings: finds the ConfigMap keys at fault, so that all others still count. */

import type { Settings } from "../catalog/settings.ts";

export interface RefusedKey {
  readonly key: string;
  /** nginx's own words. */
  readonly reason: string;
}

export interface Isolated {
  /** The wanted settings; those refused have their value of `base`. */
  readonly settings: Settings;
  readonly refused: readonly RefusedKey[];
}

/** `base` is known to pass. `test` gives nginx's reason, or undefined when it takes the settings. */
export async function isolate(
  wanted: Settings,
  base: Settings,
  test: (settings: Settings) => Promise<string | undefined>,
): Promise<Isolated> {
  if (changedKeys(wanted, base).length === 0) return { settings: base, refused: [] };
  const alone = await onlyOne(wanted, base, test);
  if (alone !== undefined) return alone;
  let waiting = changedKeys(wanted, base);
  let settings = base;
  let refused: RefusedKey[] = [];
  // A key may need another one that comes later: again, as long as one more is taken.
  for (let taken = true; taken && waiting.length > 0; ) {
    taken = false;
    refused = [];
    for (const key of waiting) {
      const candidate = { ...settings, [key]: wanted[key] };
      const reason = await test(candidate);
      if (reason === undefined) {
        settings = candidate;
        taken = true;
      } else refused.push({ key, reason });
    }
    waiting = refused.map((r) => r.key as keyof Settings);
  }
  return { settings, refused };
}

/** The usual case, and the one in which keys that need each other must not be taken one by one. */
async function onlyOne(
  wanted: Settings,
  base: Settings,
  test: (settings: Settings) => Promise<string | undefined>,
): Promise<Isolated | undefined> {
  const reason = await test(wanted);
  if (reason === undefined) return { settings: wanted, refused: [] };
  for (const key of changedKeys(wanted, base)) {
    const settings = { ...wanted, [key]: base[key] };
    if ((await test(settings)) === undefined) return { settings, refused: [{ key, reason }] };
  }
  return undefined;
}

function changedKeys(wanted: Settings, base: Settings): (keyof Settings)[] {
  const keys = Object.keys(wanted) as (keyof Settings)[];
  return keys.filter((key) => JSON.stringify(wanted[key]) !== JSON.stringify(base[key])).sort();
}
