/** Settings → access log and error log. */

import { isIPv6 } from "node:net";
import type { Settings } from "../catalog/settings.ts";
import type { AccessLog, Directive } from "./conf-view.ts";

/** `logDir` stands for /var/log/nginx. */
export function logPath(path: string, logDir: string): string {
  return path.startsWith("/var/log/nginx/") ? `${logDir}/${path.slice("/var/log/nginx/".length)}` : path;
}

export function accessLog(settings: Settings, logDir: string): AccessLog {
  const off = settings["disable-access-log"] || settings["disable-http-access-log"];
  const syslog = syslogTarget(settings);
  const path = settings["http-access-log-path"] ?? settings["access-log-path"];
  return {
    ...(off ? {} : { target: syslog ?? logPath(path, logDir) }),
    // a block scalar of YAML ends in a line break, and nginx writes one of its own
    format: settings["log-format-upstream"].replace(/\n$/, ""),
    escape: settings["log-format-escape-none"] ? "none" : settings["log-format-escape-json"] ? "json" : "default",
    // what goes to syslog cannot be buffered
    params: syslog === undefined ? words(settings["access-log-params"]) : [],
    skipUrls: [...new Set(settings["skip-access-log-urls"])].map(mapKey),
  };
}

/** Http's own error log, where it is not the one of the whole server. */
export function httpErrorLog(settings: Settings, level: string): Directive[] {
  const syslog = syslogTarget(settings);
  return syslog === undefined ? [] : [{ name: "error_log", args: [syslog, level] }];
}

function syslogTarget(settings: Settings): string | undefined {
  const host = settings["syslog-host"];
  if (!settings["enable-syslog"] || host === "") return undefined;
  return `syslog:server=${isIPv6(host) ? `[${host}]` : host}:${settings["syslog-port"]}`;
}

/** Words with a meaning of their own in a map are escaped; expressions ("~…") are meant. */
function mapKey(key: string): string {
  return ["default", "hostnames", "include", "volatile"].includes(key) ? `\\${key}` : key;
}

function words(text: string): string[] {
  return text.split(/\s+/).filter((w) => w !== "");
}
