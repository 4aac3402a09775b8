/** What nginx.conf tells the workers, written by control/apply/template-view.ts into init_by_lua. */
import { decode } from "cjson.safe";
import type { MetricsSettings } from "../wire";

export interface Settings {
  /** Hash of the nginx.conf that this worker runs. */
  readonly hash: string;
  /** Profiles in that file, by id. */
  readonly profiles: LuaTable<string, ProfileSettings>;
  /** By place of the server block, from 1. */
  readonly servers: LuaTable<number, ServerSettings>;
  /** Locations for internal redirects and subrequests, by name ("/~auth"). */
  readonly internal: LuaTable<string, true>;
  readonly statusPort: string;
  /** Absent: nothing is counted. */
  readonly metrics?: MetricsSettings;
  /** The access log names $proxy_upstream_name. */
  readonly logUpstream: boolean;
  /** The Server header is removed by Lua, because nginx lacks the module for it. */
  readonly clearServer: boolean;
  /** The server has error pages: every request's state is kept for them. */
  readonly errorPages: boolean;
  readonly redirects: RedirectSettings;
  /** With --enable-ssl-passthrough: where TLS comes in, and where the part of it that is ended here is handed on to. */
  readonly passthrough?: { readonly httpsPort: string; readonly innerPort: string };
}

/** What a profile's snippets ask of the phases. */
export interface ProfileSettings {
  /** They act on the URI, so it is there before them, and all steps come after them. */
  readonly uriFirst?: boolean;
  /** They name $namespace, $service_name and the like. */
  readonly variables?: boolean;
}

/** A server block with text of its own. */
export interface ServerSettings {
  /** Its locations: nginx picks them by the request's own URI. stop is "^~". */
  readonly locations?: LuaTable<
    number,
    { readonly kind: "exact" | "prefix" | "stop" | "regex" | "iregex"; readonly path: string; readonly internal?: boolean }
  >;
  /** Named ones, with "@". */
  readonly named?: LuaTable<string, true>;
  /** Its text may answer or rewrite: it runs in "@first". */
  readonly first?: boolean;
  readonly variables?: boolean;
}

/** absolute_redirect and port_in_redirect, for redirects to a path. Absent: as for the whole server. */
export interface RedirectSettings {
  readonly relative?: boolean;
  readonly port?: boolean;
}

const settings = {
  hash: "",
  profiles: new LuaTable(),
  servers: new LuaTable(),
  internal: new LuaTable(),
  statusPort: "",
  logUpstream: true,
  clearServer: false,
  errorPages: false,
  redirects: {},
} as Settings;

/** Throws when the text is no JSON: nginx then refuses the configuration. */
function loadSettings(text: string): void {
  const [read, problem] = decode(text);
  if (read === undefined) {
    error(`settings in nginx.conf: ${problem}`);
  }
  for (const [key, value] of pairs(read as LuaTable<string, unknown>)) {
    (settings as unknown as LuaTable<string, unknown>).set(key, value);
  }
}

/** The port to which the client came: behind ssl_preread nginx itself knows another one. */
function serverPort(): string {
  const port = ngx.var.get("server_port")!;
  const { passthrough } = settings;
  return passthrough !== undefined && port === passthrough.innerPort ? passthrough.httpsPort : port;
}

export { loadSettings, serverPort, settings };
