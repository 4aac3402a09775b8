/** Session cookies: "<key>|<backend key>", the first for the balancer, the second says which backend (canary or not) it is for. */
import type { RequestState } from "../features/feature";
import type { BackendDocument, CookieAffinityDocument } from "../wire";

export interface Session {
  readonly name: string;
  /** nginx variable. */
  readonly variable: string;
  readonly backendKey: string;
  readonly changeOnFailure: boolean;
  /** Seconds from now. */
  readonly expires: number | undefined;
  /** Between Expires and Path, with its separators. */
  readonly beforePath: string;
  readonly path: string | undefined;
  readonly secure: boolean;
  readonly sameSite: string | undefined;
  readonly conditionalNone: boolean;
}

function backendKeyOf(name: string): string {
  return ngx.md5(ngx.md5(name) + name);
}

function attribute(name: string, value: string | undefined): string {
  return value === undefined || value === "" ? "" : `; ${name}=${value}`;
}

function sameSiteOf({ samesite }: CookieAffinityDocument): string | undefined {
  return samesite === "None" || samesite === "Lax" || samesite === "Strict" ? samesite : undefined;
}

/** undefined without affinity. */
function sessionOf({ name, sessionAffinityConfig: affinity }: BackendDocument): Session | undefined {
  if (affinity.name !== "cookie") {
    return undefined;
  }
  const cookie = affinity.cookieSessionAffinity;
  const named = cookie.name === "" ? "route" : cookie.name;
  return {
    name: named,
    variable: `cookie_${named}`,
    backendKey: backendKeyOf(name),
    changeOnFailure: cookie.change_on_failure === true,
    expires: cookie.expires === undefined ? undefined : tonumber(cookie.expires),
    beforePath: attribute("Max-Age", cookie.maxage) + attribute("Domain", cookie.domain),
    path: cookie.path === "" ? undefined : cookie.path,
    secure: cookie.secure === true,
    sameSite: sameSiteOf(cookie),
    conditionalNone: cookie.conditional_samesite_none === true,
  };
}

/** Key and backend key of the client's cookie; a cookie of foreign making has no second part. */
function readSession(session: Session): LuaMultiReturn<[key: string | undefined, backendKey: string | undefined]> {
  const value = ngx.var.get(session.variable);
  if (value === undefined || value === "") {
    return $multi(undefined, undefined);
  }
  const [key, backendKey] = string.match(value, "^([^|]+)|?([^|]*)");
  return $multi(key, backendKey);
}

/** The client belongs to the backend that the session is of. */
function isBound(session: Session): boolean {
  const [, backendKey] = readSession(session);
  return backendKey === session.backendKey;
}

/** Agents that take SameSite=None for Strict or drop the cookie. */
function mishandlesNone(agent: string): boolean {
  const [oldChrome] = string.find(agent, "Chrome/[456]%d%D");
  const [oldIos] = string.find(agent, "iP[^;]*; CPU [^)]*OS 12[_ ]");
  if (oldChrome !== undefined || oldIos !== undefined) {
    return true;
  }
  const [mojave] = string.find(agent, "Macintosh; [^)]*Mac OS X 10_14");
  const [safari] = string.find(agent, "Safari/", 1, true);
  const [chrome] = string.find(agent, "Chrom", 1, true);
  return mojave !== undefined && safari !== undefined && chrome === undefined;
}

function sameSiteText({ sameSite, conditionalNone }: Session): string {
  if (sameSite === undefined) {
    return "";
  }
  if (sameSite === "None" && conditionalNone && mishandlesNone(ngx.var.get("http_user_agent") ?? "")) {
    return "";
  }
  return `; SameSite=${sameSite}`;
}

function cookieText(session: Session, key: string, locationPath: string): string {
  const expires = session.expires === undefined ? "" : `; Expires=${ngx.http_time(ngx.time() + session.expires)}`;
  const secure = session.secure || ngx.var.get("https") === "on" ? "; Secure" : "";
  const start = `${session.name}=${key}|${session.backendKey}${expires}${session.beforePath}`;
  return `${start}; Path=${session.path ?? locationPath}${secure}; HttpOnly${sameSiteText(session)}`;
}

/** Other cookies of the answer stay; what an earlier try of this request set goes. */
function addCookie(text: string, former: string | undefined): void {
  const present = ngx.header.get("Set-Cookie") as unknown as string | readonly string[] | undefined;
  const cookies: string[] = [];
  if (type(present) === "table") {
    for (const cookie of present as readonly string[]) {
      if (cookie !== former && cookie !== text) {
        cookies[cookies.length] = cookie;
      }
    }
  } else if (present !== undefined && present !== former && present !== text) {
    cookies[0] = present as string;
  }
  cookies[cookies.length] = text;
  ngx.header.set("Set-Cookie", cookies as unknown as string);
}

/** Where the route issues cookies, the client gets one with this key. */
function issue(session: Session, key: string, request: RequestState): void {
  if (request.route.more?.issuesSession !== true) {
    return;
  }
  const text = cookieText(session, key, request.route.source.get(5)!);
  addCookie(text, request.cookie);
  request.cookie = text;
}

/** The client's key, unless it is to be replaced because the peer it leads to has failed. */
function usableKey(session: Session, request: RequestState): string | undefined {
  if (request.tries > 0 && session.changeOnFailure) {
    return undefined;
  }
  const [key] = readSession(session);
  return key;
}

export { backendKeyOf, cookieText, isBound, issue, mishandlesNone, readSession, sessionOf, usableKey };
