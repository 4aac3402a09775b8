/** ConfigMap keys: the administrator's own nginx text. */

import { snippet, text } from "../../catalog/kinds.ts";
import { setting } from "../../catalog/settings.ts";

export const snippetsSettings = {
  "http-snippet": setting({
    kind: snippet,
    default: "",
    applies: "reload",
    doc: "nginx directives for the http block.",
  }),
  "location-snippet": setting({
    kind: snippet,
    default: "",
    applies: "reload",
    doc: "nginx directives for every location, after configuration-snippet.",
  }),
  "main-snippet": setting({
    kind: snippet,
    default: "",
    applies: "reload",
    doc: "nginx directives for the main context.",
  }),
  plugins: setting({
    kind: text,
    default: undefined,
    support: "none",
    note: "Lua plugins of the retired controller are not loaded; it took the key away itself in 1.12.",
    doc: "No effect.",
  }),
  "server-snippet": setting({
    kind: snippet,
    default: "",
    applies: "reload",
    doc: "nginx directives for every server block.",
  }),
  "stream-snippet": setting({
    kind: snippet,
    default: "",
    applies: "reload",
    doc: "nginx directives for the stream block, after those of the Ingresses.",
  }),
} as const;
