/** Words about a part of nginx.conf that nginx refuses, for findings and for the webhook. */

import { features } from "../features/index.ts";
import type { ConfParts } from "../plan/plan.ts";
import { statementsIn } from "./snippet-lines.ts";

const annotations: ReadonlySet<string> = new Set(features.flatMap((feature) => Object.keys(feature.rows)));
const ofDirective: Readonly<Record<string, string>> = { proxy_buffers: "proxy-buffers-number", client_max_body_size: "proxy-body-size" };

/** nginx's reason, its position in a file that nobody else sees cut off. */
export function refusedText(reason: string): string {
  return `nginx refuses what this Ingress asks for: ${reason.replace(/ in nginx\.conf:\d+$/, "")}`;
}

/** Name without prefix; undefined where nginx's words do not tell which one it is. */
export function annotationOf(key: string, parts: ConfParts, reason: string): string | undefined {
  if (parts.servers.has(key)) return "server-snippet";
  if (parts.streams.has(key)) return "stream-snippet";
  const { directives = [], snippets = [] } = parts.profiles.get(key) ?? {};
  const named = [...reason.matchAll(/"([a-z][a-z0-9_]*)"/g)].map(([, name]) => name as string);
  const culprit = snippets.find((s) => statementsIn([s]).some(({ words }) => named.includes(words[0] ?? "")));
  if (culprit !== undefined) return culprit.from;
  const directive = named.find((name) => directives.some((d) => d.name === name));
  if (directive === undefined) return snippets.length === 1 ? snippets[0]?.from : undefined;
  const annotation = ofDirective[directive] ?? directive.replaceAll("_", "-");
  return annotations.has(annotation) ? annotation : undefined;
}
