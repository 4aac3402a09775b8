/** ssl-redirect and force-ssl-redirect: plain http is sent to https, to the same URI. */
import { flag, integer, object } from "../configuration/check";
import { hasCertificate } from "../tls/certificate";
import type { SslRedirectDocument } from "../wire";
import type { Feature } from "./feature";

interface SslRedirect {
  readonly code: number;
  readonly force: boolean;
  readonly cutSlash: boolean;
  /** ":port", or "". */
  readonly port: string;
}

/** The host without its port; an IPv6 address keeps its brackets. */
function withoutPort(host: string): string {
  const [bracketed] = string.match(host, "^%[[^%]]*%]");
  if (bracketed !== undefined) {
    return bracketed;
  }
  const [name] = string.match(host, "^[^:]*");
  return name!;
}

/** "https://host[:port]/uri" for the raw request URI. */
function secureLocation(host: string, uri: string, config: SslRedirect): string {
  const cut = config.cutSlash && string.sub(uri, -1) === "/";
  return `https://${withoutPort(host)}${config.port}${cut ? string.sub(uri, 1, -2) : uri}`;
}

function early(config: SslRedirect): LuaMultiReturn<[number?, string?]> {
  if (ngx.var.get("pass_access_scheme") !== "http") {
    return $multi();
  }
  // an alias of the host need not have the host's certificate
  if (!config.force && !hasCertificate(ngx.var.get("host")!)) {
    return $multi();
  }
  const host = ngx.var.get("best_http_host");
  const named = host === undefined || host === "" ? ngx.var.get("host")! : host;
  return $multi(config.code, secureLocation(named, ngx.var.get("request_uri")!, config));
}

function prepare(document: SslRedirectDocument): SslRedirect {
  return {
    code: document.code,
    force: document.force === true,
    cutSlash: document.preserveTrailingSlash !== true,
    port: document.port === undefined ? "" : `:${document.port}`,
  };
}

export const sslRedirect: Feature<SslRedirectDocument, SslRedirect> = {
  check: object({ code: integer(300, 399), "force?": flag, "preserveTrailingSlash?": flag, "port?": integer(1, 65535) }),
  prepare: (document) => prepare(document),
  early,
};

export { prepare as prepareSslRedirect, secureLocation, withoutPort };
