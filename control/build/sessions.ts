/** Session affinity of backends: which Ingress says what of it, and at which hosts and paths cookies are issued. */

import type { BackendDocument, CookieAffinityDocument } from "../../lua-src/wire.ts";
import type { Finding } from "../model/finding.ts";
import type { Accepted } from "./accept.ts";

type Affinity = BackendDocument["sessionAffinityConfig"];

interface Draft {
  mode: string | undefined;
  cookie: CookieAffinityDocument | undefined;
  /** Whose cookie that is. */
  owner: Accepted | undefined;
  readonly locations: Map<string, Set<string>>;
}

/** Name of the catch-all host among the locations. */
const anyHost = "_";

export class Sessions {
  readonly #drafts = new Map<string, Draft>();
  readonly #findings: Finding[];

  constructor(findings: Finding[]) {
    this.#findings = findings;
  }

  /** Ingresses come oldest first: the first mode holds, and the cookie of the last one. `host` "" is the catch-all. */
  claim(backend: string, owner: Accepted, host: string, path: string): void {
    const { values, given } = owner.annotations;
    const draft = this.#draft(backend);
    if (given.has("affinity-mode")) draft.mode ??= values["affinity-mode"] as string;
    if (values.affinity !== "cookie") return;
    const cookie = cookieOf(values);
    if (draft.owner !== undefined && draft.owner !== owner && JSON.stringify(draft.cookie) !== JSON.stringify(cookie)) {
      this.#findings.push(lostCookie(backend, draft.owner, owner));
    }
    draft.cookie = cookie;
    draft.owner = owner;
    for (const name of [host === "" ? anyHost : host, ...aliasesOf(values)]) {
      const paths = draft.locations.get(name) ?? new Set();
      draft.locations.set(name, paths.add(path));
    }
  }

  #draft(backend: string): Draft {
    let draft = this.#drafts.get(backend);
    if (draft === undefined) {
      draft = { mode: undefined, cookie: undefined, owner: undefined, locations: new Map() };
      this.#drafts.set(backend, draft);
    }
    return draft;
  }

  /** undefined without affinity. */
  of(backend: string): Affinity | undefined {
    const draft = this.#drafts.get(backend);
    if (draft?.cookie === undefined) return undefined;
    const locations = Object.fromEntries(
      [...draft.locations].sort(([a], [b]) => (a < b ? -1 : 1)).map(([host, paths]) => [host, [...paths]]),
    );
    return { name: "cookie", mode: draft.mode ?? "balanced", cookieSessionAffinity: { ...draft.cookie, locations } };
  }

  /** Whether a client of this location gets a cookie. A host without locations of its own has those of its wildcard. */
  issuesAt(backend: string, host: string, path: string): boolean {
    const draft = this.#drafts.get(backend);
    if (draft?.cookie === undefined) return false;
    const paths = draft.locations.get(host === "" ? anyHost : host) ?? draft.locations.get(host.replace(/^[^.]+\./, "*."));
    return paths?.has(path) === true;
  }
}

function lostCookie(backend: string, owner: Accepted, younger: Accepted): Finding {
  const text = `the session cookie of ${backend} is that of the younger Ingress ${younger.ref.namespace}/${younger.ref.name}`;
  return { code: "backend-conflict", about: owner.ref, at: "affinity", text, also: [younger.ref] };
}

function aliasesOf(values: Readonly<Record<string, unknown>>): readonly string[] {
  return (values["server-alias"] as readonly string[] | undefined) ?? [];
}

function cookieOf(values: Readonly<Record<string, unknown>>): CookieAffinityDocument {
  const text = (name: string) => values[`session-cookie-${name}`] as string | undefined;
  const number = (name: string) => (text(name) === undefined ? undefined : String(text(name)));
  const flag = (name: string) => ((values[`session-cookie-${name}`] as boolean | undefined) === true ? true : undefined);
  const all = {
    name: text("name") ?? "INGRESSCOOKIE",
    expires: number("expires"),
    maxage: number("max-age"),
    secure: flag("secure"),
    path: text("path"),
    domain: text("domain"),
    samesite: text("samesite"),
    conditional_samesite_none: flag("conditional-samesite-none"),
    change_on_failure: flag("change-on-failure"),
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)) as unknown as CookieAffinityDocument;
}
