/** Annotations: buffering. */

import { feature, row } from "../catalog/feature.ts";
import { bufferSize, int, oneOf, size } from "../catalog/kinds.ts";
import type { Directive } from "../model/model.ts";

/** Bytes of nginx size text. */
export function bytes(text: string): number {
  const m = /^(\d+)([km]?)$/.exec(text);
  if (m === null) throw new Error(`not a size: ${text}`);
  return Number(m[1]) * (m[2] === "k" ? 1024 : m[2] === "m" ? 1024 * 1024 : 1);
}

/**
 * nginx wants: at least 2 buffers; busy at least one buffer and less than all of them but one. What lies outside is
 * brought to the nearest value that nginx takes, so that one annotation cannot make it refuse the whole file.
 */
export function bufferSizes(size: string, number: number, busy: string | undefined): { number: number; busy: string | undefined } {
  const one = bytes(size);
  const count = Math.max(2, number);
  if (busy === undefined) return { number: count, busy: undefined };
  const most = (count - 1) * one;
  const wanted = Math.max(one, Math.min(bytes(busy), most));
  return { number: count, busy: wanted === bytes(busy) ? busy : String(wanted) };
}

export const buffering = feature({
  name: "buffering",
  rows: {
    "proxy-buffering": row({
      kind: oneOf(["on", "off"]),
      default: undefined,
      configMapKey: "proxy-buffering",
      risk: "low",
      onInvalid: "default",
      applies: "profile",
      doc: "Response buffering.",
    }),
    "proxy-buffer-size": row({
      kind: bufferSize,
      default: undefined,
      configMapKey: "proxy-buffer-size",
      risk: "low",
      onInvalid: "default",
      applies: "profile",
      doc: "proxy_buffer_size and size of each of proxy_buffers.",
    }),
    "proxy-buffers-number": row({
      kind: int(1, 100000),
      default: undefined,
      configMapKey: "proxy-buffers-number",
      risk: "low",
      onInvalid: "default",
      applies: "profile",
      doc: "First argument of proxy_buffers (second is proxy-buffer-size).",
    }),
    "proxy-busy-buffers-size": row({
      kind: bufferSize,
      default: undefined,
      configMapKey: "proxy-busy-buffers-size",
      risk: "low",
      onInvalid: "default",
      applies: "profile",
      doc: "proxy_busy_buffers_size.",
    }),
    "proxy-max-temp-file-size": row({
      kind: size,
      default: undefined,
      configMapKey: "proxy-max-temp-file-size",
      risk: "low",
      onInvalid: "default",
      applies: "profile",
      doc: "Rendered only when digits with optional k m g.",
    }),
  },
  fixed(v, place) {
    if (place.protocol === "GRPC" || place.protocol === "GRPCS") return [];
    const family = place.protocol === "FCGI" ? "fastcgi" : "proxy";
    const out: Directive[] = [];
    const add = (name: string, value: string | undefined, inherited: unknown) => {
      if (value !== undefined && value !== inherited) out.push({ name: `${family}_${name}`, args: [value] });
    };
    const { settings } = place;
    add("buffering", v["proxy-buffering"], settings["proxy-buffering"]);
    add("max_temp_file_size", v["proxy-max-temp-file-size"], settings["proxy-max-temp-file-size"]);
    const size = v["proxy-buffer-size"] ?? settings["proxy-buffer-size"];
    const number = v["proxy-buffers-number"] ?? settings["proxy-buffers-number"];
    if (size !== settings["proxy-buffer-size"] || number !== settings["proxy-buffers-number"]) {
      const buffers = bufferSizes(size, number, v["proxy-busy-buffers-size"] ?? settings["proxy-busy-buffers-size"]);
      out.push({ name: `${family}_buffer_size`, args: [size] }, { name: `${family}_buffers`, args: [String(buffers.number), size] });
      if (buffers.busy !== undefined) out.push({ name: `${family}_busy_buffers_size`, args: [buffers.busy] });
    } else {
      const busy = v["proxy-busy-buffers-size"];
      if (busy !== undefined) {
        add("busy_buffers_size", bufferSizes(size, number, busy).busy, settings["proxy-busy-buffers-size"]);
      }
    }
    return out;
  },
});
