/** What of the view is no text of nginx.conf: the workers' settings. */

import { namesVariable } from "../catalog/nginx-variables.ts";
import type { ConfView, Directive } from "../plan/conf-view.ts";
import { hooked } from "./locations.ts";
import { serverSettings } from "./server-view.ts";
import { profileSnippets } from "./snippet-lines.ts";

/** What init_by_lua hands to the workers; lua-src/configuration/settings.ts reads it. */
export function workerSettings(view: ConfView, hash: string): object {
  const profiles: Record<string, object> = {};
  for (const profile of [hooked, ...view.profiles]) {
    profiles[profile.id] = profileSnippets(profile, view);
  }
  const internal: Record<string, true> = {};
  for (const location of view.internal) {
    internal[location.name] = true;
  }
  return {
    hash,
    profiles,
    internal,
    servers: serverSettings(view),
    statusPort: String(view.statusPort),
    ...(view.metrics === undefined ? {} : { metrics: view.metrics }),
    logUpstream: namesUpstream(view),
    clearServer: clearServerLines(view).byLua,
    errorPages: view.server.some((directive) => directive.name === "error_page"),
    redirects: redirectSettings(view.http),
    ...passthroughSettings(view),
  };
}

/** Whether anything that every request meets names its backend. */
function namesUpstream({ accessLog, requestHeaders, responseHeaders, snippets }: ConfView): boolean {
  const texts = [
    ...(accessLog.target === undefined ? [] : [accessLog.format]),
    ...[...requestHeaders, ...responseHeaders].map(({ value }) => String(value)),
    ...[...snippets.http, ...snippets.server, ...snippets.location].map(({ snippet }) => snippet),
  ];
  return texts.some((text) => namesVariable(text, "proxy_upstream_name"));
}

function passthroughSettings({ stream, httpsPort }: ConfView): object {
  const innerPort = stream?.passthrough?.proxyPort;
  return innerPort === undefined ? {} : { passthrough: { httpsPort: String(httpsPort), innerPort: String(innerPort) } };
}

/** nginx makes redirects of its own absolute; Lua does the same for those that it sends. */
function redirectSettings(directives: readonly Directive[]): { readonly relative?: boolean; readonly port?: boolean } {
  const last = (name: string) => directives.findLast((directive) => directive.name === name)?.args[0];
  const [absolute, port] = [last("absolute_redirect"), last("port_in_redirect")];
  return {
    ...(absolute === undefined ? {} : { relative: absolute === "off" }),
    ...(port === undefined ? {} : { port: port === "on" }),
  };
}

export function clearServerLines(view: ConfView): { readonly byModule: boolean; readonly byLua: boolean } {
  if (view.serverTokens || view.allowBackendServerHeader) {
    return { byModule: false, byLua: false };
  }
  return { byModule: view.features.headersMore, byLua: !view.features.headersMore };
}
