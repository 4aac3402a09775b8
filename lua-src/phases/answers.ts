/** Answers that Lua gives itself before there is a location. They end the request. */
import { type RedirectSettings, settings } from "../configuration/settings";
import type { HostMore, Route } from "../router/route";

/** ngx.redirect knows 301, 302, 303, 307 and 308 only. */
function redirectTo(location: string, status: number): void {
  if (status > 300 && status < 309 && (status < 304 || status > 306)) {
    ngx.redirect(location, status);
  }
  ngx.header.set("Location", location);
  ngx.exit(status);
}

/** Escapes what may not stand in a URI's path; "/" and what RFC 3986 allows there stay. */
function escapePath(path: string): string {
  const [escaped] = string.gsub(path, "[^%w%-%._~!$&'()*+,;=:@/]", (char: string) => string.format("%%%02X", string.byte(char)));
  return escaped;
}

function portSuffix(scheme: string): string {
  const port = ngx.var.get("server_port")!;
  const usual = scheme === "https" ? "443" : "80";
  return port === usual ? "" : `:${port}`;
}

/** Puts scheme and host before a path, unless the settings of the route say to leave it relative. Complete URLs stay. */
function absolute(location: string, route: Route): string {
  const profile = route.more?.profile;
  const own: RedirectSettings = (profile === undefined ? undefined : settings.profiles.get(profile)) ?? {};
  if (string.byte(location, 1) !== 47 || (own.relative ?? settings.redirects.relative) === true) {
    return location;
  }
  const scheme = ngx.var.get("scheme")!;
  const port = (own.port ?? settings.redirects.port) === false ? "" : portSuffix(scheme);
  return `${scheme}://${ngx.var.get("host")}${port}${location}`;
}

/** 301 to the path with its slash, query kept. */
function answerSlash(path: string, route: Route): void {
  const query = ngx.var.get("args");
  const location = query === undefined || query === "" ? escapePath(path) : `${escapePath(path)}?${query}`;
  redirectTo(absolute(location, route), 301);
}

function redirectHost(host: string, code: number): void {
  const uri = ngx.var.get("request_uri")!;
  const cut = string.sub(uri, -1) === "/" ? string.sub(uri, 1, -2) : uri;
  redirectTo(`${ngx.var.get("pass_access_scheme")}://${host}:${ngx.var.get("pass_server_port")}${cut}`, code);
}

/** Denial and redirects of a whole host, and its app root. */
function answerHost({ deny, redirectTo: target, appRoot }: HostMore, uri: string): void {
  if (deny !== undefined) {
    ngx.exit(deny);
  }
  if (target !== undefined) {
    redirectHost(target.host, target.code);
  }
  if (appRoot !== undefined && uri === "/") {
    redirectTo(`${ngx.var.get("pass_access_scheme")}://${ngx.var.get("http_host") ?? ngx.var.get("host")}${appRoot}`, 302);
  }
}

export { absolute, answerHost, answerSlash, escapePath, redirectTo };
