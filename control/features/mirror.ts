/** Annotations: copies of requests. */

import { feature, type Notice, row } from "../catalog/feature.ts";
import { hostText, oneOf } from "../catalog/kinds.ts";

interface Target {
  /** URL template for the data plane; variables are meant. */
  readonly url: string;
  /** Host header: the written host up to the first variable. */
  readonly host: string;
}

/** A reason when it is no target. Paths without variables keep the query; without a path the whole request target is appended. */
export function mirrorTarget(text: string): Target | string {
  const m = /^(https?):\/\/([^/?#$]*)(.*)$/i.exec(text);
  const host = m?.[2] ?? "";
  const rest = m?.[3] ?? "";
  if (m === null || host === "" || host.startsWith(":")) return "it is no http or https URL with a host";
  if (/^unix(:|$)/i.test(host)) return "it must not name a socket of this machine";
  const tail = rest === "" ? "$request_uri" : rest.includes("$") || rest.includes("?") ? rest : `${rest}$is_args$args`;
  return { url: `${m[1]?.toLowerCase()}://${host}${tail}`, host };
}

export const mirror = feature({
  name: "mirror",
  rows: {
    "mirror-target": row({
      kind: hostText,
      default: undefined,
      risk: "high",
      onInvalid: "default",
      applies: "profile",
      doc: "Each request is copied to this URL, which may hold variables; the answer is discarded. What is no http or https URL with a host mirrors nothing.",
    }),
    "mirror-host": row({
      kind: hostText,
      default: undefined,
      risk: "high",
      onInvalid: "default",
      doc: "Host header of the mirrored request; else the host of mirror-target.",
    }),
    "mirror-request-body": row({
      kind: oneOf(["on", "off"]),
      default: "on",
      risk: "low",
      onInvalid: "default",
      applies: "profile",
      doc: "Whether the body is mirrored; anything but off means on.",
    }),
  },
  notices(v): readonly Notice[] {
    const target = v["mirror-target"];
    const parsed = target === undefined ? undefined : mirrorTarget(target);
    return typeof parsed === "string" ? [{ annotation: "mirror-target", reason: `${parsed}; nothing is mirrored` }] : [];
  },
  build(v) {
    const target = v["mirror-target"];
    const parsed = target === undefined ? undefined : mirrorTarget(target);
    if (parsed === undefined || typeof parsed === "string") return undefined;
    return { mirror: { target: parsed.url, host: v["mirror-host"] ?? parsed.host } };
  },
  fixed(v) {
    const target = v["mirror-target"];
    if (target === undefined || typeof mirrorTarget(target) === "string") return [];
    const body = v["mirror-request-body"];
    return [
      { name: "mirror", args: [body === "off" ? "/~mirror-bare" : "/~mirror"] },
      { name: "mirror_request_body", args: [body] },
    ];
  },
});
