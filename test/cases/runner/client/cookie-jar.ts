// Cookies of a browser-like client across the steps of a case (RFC 6265, without the list of public suffixes).

interface Cookie {
  readonly name: string;
  readonly value: string;
  readonly domain: string;
  readonly hostOnly: boolean;
  readonly path: string;
  readonly secure: boolean;
  /** ms since 1970; undefined for a session cookie. */
  readonly expires: number | undefined;
}

export interface CookieSite {
  readonly host: string;
  readonly path: string;
  readonly secure: boolean;
}

export interface CookieJar {
  /** Value of the Cookie header; undefined when none applies. */
  header(site: CookieSite): string | undefined;
  /** Takes the values of Set-Cookie headers. */
  store(site: CookieSite, values: readonly string[]): void;
}

function domainMatches(host: string, cookie: Cookie): boolean {
  return host === cookie.domain || (!cookie.hostOnly && host.endsWith(`.${cookie.domain}`));
}

function pathMatches(path: string, wanted: string): boolean {
  return path === wanted || (path.startsWith(wanted) && (wanted.endsWith("/") || path[wanted.length] === "/"));
}

function plainPath(path: string): string {
  return path.split("?")[0] ?? "/";
}

function defaultPath(path: string): string {
  const cut = plainPath(path).lastIndexOf("/");
  return cut <= 0 ? "/" : plainPath(path).slice(0, cut);
}

function expiry(attributes: ReadonlyMap<string, string>, now: number): number | undefined {
  const age = attributes.get("max-age");
  if (age !== undefined && /^-?\d+$/.test(age)) return now + Number(age) * 1000;
  const date = Date.parse((attributes.get("expires") ?? "").replaceAll("-", " "));
  return Number.isNaN(date) ? undefined : date;
}

function parseCookie(text: string, site: CookieSite, now: number): Cookie | undefined {
  const [pair = "", ...rest] = text.split(";");
  const equals = pair.indexOf("=");
  if (equals <= 0) return undefined;
  const attributes = new Map(
    rest.map((part) => {
      const at = part.indexOf("=");
      return at < 0 ? [part.trim().toLowerCase(), ""] : [part.slice(0, at).trim().toLowerCase(), part.slice(at + 1).trim()];
    }),
  );
  const host = site.host.toLowerCase();
  const domain = (attributes.get("domain") ?? "").replace(/^\./, "").toLowerCase();
  const cookie: Cookie = {
    name: pair.slice(0, equals).trim(),
    value: pair.slice(equals + 1).trim(),
    domain: domain === "" ? host : domain,
    hostOnly: domain === "",
    path: attributes.get("path")?.startsWith("/") ? attributes.get("path")! : defaultPath(site.path),
    secure: attributes.has("secure"),
    expires: expiry(attributes, now),
  };
  return domainMatches(host, cookie) ? cookie : undefined;
}

export function createJar(now: () => number = Date.now): CookieJar {
  let cookies: Cookie[] = [];
  const alive = (one: Cookie): boolean => one.expires === undefined || one.expires > now();
  return {
    header: (site) => {
      const host = site.host.toLowerCase();
      const sent = cookies
        .filter(
          (one) => alive(one) && domainMatches(host, one) && pathMatches(plainPath(site.path), one.path) && (site.secure || !one.secure),
        )
        .sort((a, b) => b.path.length - a.path.length);
      return sent.length === 0 ? undefined : sent.map((one) => `${one.name}=${one.value}`).join("; ");
    },
    store: (site, values) => {
      for (const value of values) {
        const cookie = parseCookie(value, site, now());
        if (cookie === undefined) continue;
        cookies = cookies.filter((one) => one.name !== cookie.name || one.domain !== cookie.domain || one.path !== cookie.path);
        if (alive(cookie)) cookies.push(cookie);
      }
    },
  };
}
