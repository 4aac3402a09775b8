/** Answers that Lua gives itself before there is a location. They end the request. */
import { givenHost } from "../base/given-host";
import { currentGeneral } from "../configuration/general";
import { serverPort, settings } from "../configuration/settings";
import type { HostMore, Route } from "../router/route";

/** With the other codes from 300 on nginx's `return` sends its text as the body, and so do we. */
function isRedirect(status: number): boolean {
  return status > 300 && status < 309 && (status < 304 || status > 306);
}

/** Ends the request; `location` is complete. */
function endRequest(status: number, location: string | undefined): void {
  if (location === undefined || status === 304) {
    ngx.exit(status);
  } else if (isRedirect(status)) {
    // ngx.redirect would have nginx put scheme and host before a path
    ngx.header.set("Location", location);
    ngx.exit(status);
  } else {
    ngx.status = status;
    ngx.header.set("Content-Length", tostring(location.length));
    ngx.print(location);
    ngx.exit(ngx.OK);
  }
}

/** Escapes what may not stand in a URI's path; "/" and what RFC 3986 allows there stay. */
function escapePath(path: string): string {
  const [escaped] = string.gsub(path, "[^%w%-%._~!$&'()*+,;=:@/]", (char: string) => string.format("%%%02X", string.byte(char)));
  return escaped;
}

function portSuffix(scheme: string): string {
  const port = serverPort();
  const usual = scheme === "https" ? "443" : "80";
  return port === usual ? "" : `:${port}`;
}

const slash = string.byte("/");

/** Puts scheme and host before a path, unless the settings of the route say to leave it relative. Complete URLs stay. */
function absolute(location: string, route: Route): string {
  const own = route.more?.redirects;
  const relative = own?.relative ?? settings.redirects.relative;
  if (string.byte(location, 1) !== slash || relative === true) {
    return location;
  }
  const scheme = ngx.var.get("scheme")!;
  const port = (own?.port ?? settings.redirects.port) === false ? "" : portSuffix(scheme);
  return `${scheme}://${ngx.var.get("host")}${port}${location}`;
}

/** The path with its slash, query kept. */
function slashLocation(path: string): string {
  const query = ngx.var.get("args");
  return query === undefined || query === "" ? escapePath(path) : `${escapePath(path)}?${query}`;
}

function trusted(header: string, own: string): string {
  const value = currentGeneral().useForwardedHeaders ? ngx.var.get(header) : undefined;
  return value === undefined || value === "" ? own : value;
}

/** The port is always named: the redirect's target is told from the request by its host alone. */
function redirectHost(host: string, code: number): void {
  const uri = ngx.var.get("request_uri")!;
  const cut = string.sub(uri, -1) === "/" ? string.sub(uri, 1, -2) : uri;
  const scheme = trusted("http_x_forwarded_proto", ngx.var.get("scheme")!);
  endRequest(code, `${scheme}://${host}:${trusted("http_x_forwarded_port", serverPort())}${cut}`);
}

function answerDenial({ deny }: HostMore): void {
  if (deny !== undefined) {
    ngx.exit(deny);
  }
}

/** Redirects of a whole host, and its app root. */
function answerHost({ redirectTo: target, appRoot }: HostMore, uri: string): void {
  if (target !== undefined) {
    redirectHost(target.host, target.code);
  }
  if (appRoot !== undefined && uri === "/") {
    endRequest(302, `${ngx.var.get("scheme")}://${givenHost()}${appRoot}`);
  }
}

export { absolute, answerDenial, answerHost, endRequest, slashLocation };
