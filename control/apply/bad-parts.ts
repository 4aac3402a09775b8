/** Parts of nginx.conf that nginx refuses: found one by one, left out, so that nobody else's are held up; forgotten with the settings. */

import type { Settings } from "../catalog/settings.ts";
import type { Finding } from "../model/finding.ts";
import type { Profile } from "../plan/conf-view.ts";
import { builtInParts, type ConfParts, type Plan } from "../plan/plan.ts";
import { annotationOf, refusedText } from "./refused-part.ts";

/** Nothing of `wanted` is missing in `there`. Profiles that nobody uses any more may stay; snippets must not. */
export function serves(there: ConfParts, wanted: ConfParts): boolean {
  return (
    [...wanted.profiles.keys()].every((id) => there.profiles.has(id)) &&
    JSON.stringify([...there.servers]) === JSON.stringify([...wanted.servers]) &&
    JSON.stringify([...there.streams]) === JSON.stringify([...wanted.streams])
  );
}

/** Undefined when nginx takes it, else its reason. */
type Test = (parts: ConfParts) => Promise<string | undefined>;

export class BadParts {
  #settings: Settings | undefined;
  readonly #reasons = new Map<string, string>();
  #taken: ReadonlyMap<string, string> = new Map();

  /** Stream texts that nginx would not refuse and could not take over all the same: reason by key. Each call replaces the last one's. */
  setTaken(reasons: ReadonlyMap<string, string>): void {
    this.#taken = reasons;
  }

  #of(settings: Settings): ReadonlyMap<string, string> {
    if (this.#settings !== settings) this.#reasons.clear();
    this.#settings = settings;
    return this.#reasons;
  }

  without(parts: ConfParts, settings: Settings): ConfParts {
    const bad = this.#of(settings);
    return bad.size + this.#taken.size === 0 ? parts : only(parts, (key) => !bad.has(key) && !this.#taken.has(key));
  }

  /** `builtInParts` are known to pass. */
  async find(parts: ConfParts, settings: Settings, test: Test): Promise<void> {
    this.#of(settings);
    const good = new Set<string>();
    const keep = (key: string) => good.has(key) || builtInParts.profiles.has(key);
    const search = async (keys: readonly string[]): Promise<void> => {
      if (keys.length === 0) return;
      const reason = await test(only(parts, (key) => keep(key) || keys.includes(key)));
      if (reason === undefined) for (const key of keys) good.add(key);
      else if (keys.length === 1) this.#reasons.set(keys[0] as string, reason);
      else {
        const half = keys.length >> 1;
        await search(keys.slice(0, half));
        await search(keys.slice(half));
      }
    };
    await search([...parts.servers.keys(), ...parts.streams.keys()]);
    await search([...parts.profiles.keys()].filter((id) => !builtInParts.profiles.has(id)));
  }

  /** nginx's words for what it refuses, by id or key. */
  get reasons(): ReadonlyMap<string, string> {
    return this.#reasons;
  }

  /** Stream texts that are new. */
  addStreams(parts: ConfParts, before: ConfParts, settings: Settings): void {
    this.#of(settings);
    for (const key of parts.streams.keys()) {
      if (!before.streams.has(key)) this.#reasons.set(key, "nginx cannot take it over; perhaps its port is in use");
    }
  }

  findings(plan: Plan): Finding[] {
    const keys = [...plan.parts.servers.keys(), ...plan.parts.streams.keys(), ...plan.parts.profiles.keys()];
    return keys.flatMap((key) => {
      const reason = this.#reasons.get(key) ?? this.#taken.get(key);
      if (reason === undefined) return [];
      const annotation = annotationOf(key, plan.parts, reason);
      const at = annotation === undefined ? "" : `metadata.annotations[${annotation}]`;
      const text = `${refusedText(reason)}; its locations answer 503`;
      return plan.ownersOf(key).map((about): Finding => ({ code: "config-refused", about, at, text }));
    });
  }
}

function only(parts: ConfParts, take: (key: string) => boolean): ConfParts {
  const servers = new Map([...parts.servers].filter(([key]) => take(key)));
  const streams = new Map([...parts.streams].filter(([key]) => take(key)));
  const met = (profile: Profile) => (profile.requires ?? []).every((key) => servers.has(key) || streams.has(key));
  const profiles = new Map([...parts.profiles].filter(([id, profile]) => take(id) && met(profile)));
  return { profiles, servers, streams };
}
