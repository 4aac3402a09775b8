/** Annotations: nginx's own language. Only where the administrator allows it, and only text that stays within its block. */

import { createHash } from "node:crypto";
import { type Denied, feature, type Notice, type Owner, row } from "../catalog/feature.ts";
import { snippet } from "../catalog/kinds.ts";
import { readNginxText } from "../catalog/nginx-text.ts";
import type { Settings } from "../catalog/settings.ts";
import type { Fixed } from "../model/model.ts";

const annotations = ["configuration-snippet", "server-snippet", "stream-snippet"] as const;

/** The text where it may be used and says something, else undefined. */
export function allowedSnippet(text: unknown, settings: Settings): string | undefined {
  return settings["allow-snippet-annotations"] && typeof text === "string" && text.trim() !== "" ? text : undefined;
}

/** Names the server block or stream text that is made of it. */
export function snippetKey(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 12);
}

/** The oldest Ingress of a host that has a server-snippet speaks for all of it. */
export function serverSnippetOf(
  owners: readonly Owner[],
  settings: Settings,
): { readonly owner: Owner; readonly text: string } | undefined {
  for (const owner of owners) {
    const text = allowedSnippet(owner.values["server-snippet"], settings);
    if (text !== undefined && readNginxText(text).ok) return { owner, text };
  }
  return undefined;
}

/** Of all Ingresses, oldest first; the same text counts once. */
export function streamSnippetsOf(accepted: readonly { readonly annotations: { readonly values: object } }[], settings: Settings): string[] {
  const out = new Set<string>();
  for (const { annotations: a } of accepted) {
    const text = allowedSnippet((a.values as Record<string, unknown>)["stream-snippet"], settings);
    if (text !== undefined && readNginxText(text).ok) out.add(text);
  }
  return [...out];
}

export const snippets = feature({
  name: "snippets",
  rows: {
    "configuration-snippet": row({
      kind: snippet,
      default: undefined,
      risk: "critical",
      onInvalid: "default",
      applies: "profile",
      doc: "nginx directives for each location of the Ingress, before the ConfigMap's location-snippet. Needs allow-snippet-annotations, else it is left out. Text that nginx refuses makes the locations of this Ingress answer 503.",
    }),
    "server-snippet": row({
      kind: snippet,
      default: undefined,
      scope: "host",
      risk: "critical",
      onInvalid: "default",
      applies: "profile",
      doc: "nginx directives for the server block of the host; the first Ingress of the host that has one wins. On the catch-all host they stand in the locations. Gates as for configuration-snippet.",
    }),
    "stream-snippet": row({
      kind: snippet,
      default: undefined,
      risk: "critical",
      onInvalid: "default",
      applies: "profile",
      doc: "nginx directives at the end of the stream block; those of all Ingresses, oldest first, then the ConfigMap's stream-snippet. Gates as for configuration-snippet.",
    }),
  },
  notices(v, place): readonly Notice[] {
    if (place.settings["allow-snippet-annotations"]) return [];
    const given = annotations.filter((name) => (v[name] ?? "").trim() !== "");
    return given.map((annotation) => ({ annotation, reason: "the ConfigMap does not set allow-snippet-annotations; it is left out" }));
  },
  deny(v, place): Denied | undefined {
    for (const annotation of annotations) {
      const text = allowedSnippet(v[annotation], place.settings);
      const read = text === undefined ? undefined : readNginxText(text);
      if (read !== undefined && !read.ok) return { annotation, code: "annotation-invalid", reason: read.reason };
    }
    return undefined;
  },
  fixed(v, place) {
    const out: Fixed[] = [];
    const server = serverSnippetOf(place.owners, place.settings);
    // One server block serves all hosts that have none of their own, so the catch-all's text stands in its locations.
    if (server !== undefined && place.host === "") out.push({ snippet: server.text, from: "server-snippet" });
    else if (server !== undefined && server.owner.ingress === place.ingress) out.push({ requires: `server ${snippetKey(server.text)}` });
    const stream = allowedSnippet(v["stream-snippet"], place.settings);
    if (stream !== undefined) out.push({ requires: `stream ${snippetKey(stream)}` });
    const own = allowedSnippet(v["configuration-snippet"], place.settings);
    if (own !== undefined) out.push({ snippet: own, from: "configuration-snippet" });
    return out;
  },
});
