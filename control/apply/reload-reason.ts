/** Why nginx reloads, for log and dbg. */

import { isDeepStrictEqual } from "node:util";
import { isSameBasis } from "../model/conf-basis.ts";
import type { Running } from "./tester.ts";

export function reloadReason(now: Running | undefined, conf: Running): string {
  if (now === undefined) return "the conf of a former controller differs";
  const missing = [...conf.parts.profiles.values()].filter((p) => !now.parts.profiles.has(p.id));
  const first = missing[0];
  if (first === undefined && !isDeepStrictEqual(now.basis.streams, conf.basis.streams))
    return "TCP, UDP or passed-through services changed";
  if (!isSameBasis(now.basis, conf.basis)) return "global settings changed";
  if (first === undefined) return "a server-snippet or stream-snippet changed";
  const what = first.directives.map(
    (d) => `${d.name} ${d.args.map((a) => (typeof a !== "object" ? a : "file" in a ? a.file : a.literal)).join(" ")}`,
  );
  return `${missing.length} new profile(s), ${first.id}: ${[first.family, ...what].join(", ").slice(0, 200)}`;
}
