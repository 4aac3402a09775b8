/** Annotations: buffering. */

import { feature, row } from "../catalog/feature.ts";
import { bufferSize, fileSize, int, oneOf } from "../catalog/kinds.ts";
import type { Directive } from "../model/model.ts";

/** Bytes of nginx size text. */
export function bytes(text: string): number {
  const m = /^(\d+)([km]?)$/.exec(text);
  if (m === null) throw new Error(`not a size: ${text}`);
  return Number(m[1]) * (m[2] === "k" ? 1024 : m[2] === "m" ? 1024 * 1024 : 1);
}

export interface BufferSizes {
  readonly number: number;
  /** undefined: nginx's own default fits. */
  readonly busy: string | undefined;
  readonly maxTemp: string;
}

/**
 * nginx wants: at least 2 buffers; busy at least one buffer (by default two) and not more than all of them but one; temp
 * files off, or not smaller than a buffer. What lies outside is brought to the nearest value that nginx takes, so that
 * one annotation cannot make it refuse the whole file.
 */
export function bufferSizes(size: string, number: number, busy: string | undefined, maxTemp: string): BufferSizes {
  const one = bytes(size);
  const count = Math.max(2, number);
  const most = (count - 1) * one;
  const wanted = Math.max(one, Math.min(busy === undefined ? 2 * one : bytes(busy), most));
  const fits = wanted === (busy === undefined ? 2 * one : bytes(busy));
  const temp = bytes(maxTemp);
  return {
    number: count,
    busy: fits ? busy : String(wanted),
    maxTemp: temp === 0 || temp >= one ? maxTemp : size,
  };
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
      kind: fileSize,
      default: undefined,
      configMapKey: "proxy-max-temp-file-size",
      risk: "low",
      onInvalid: "default",
      applies: "profile",
      doc: "proxy_max_temp_file_size; 0 is off, less than a buffer becomes one buffer.",
    }),
  },
  fixed(v, place) {
    if (place.protocol === "GRPC" || place.protocol === "GRPCS") return [];
    const family = place.protocol === "FCGI" ? "fastcgi" : "proxy";
    const out: Directive[] = [];
    const add = (name: string, ...args: string[]) => out.push({ name: `${family}_${name}`, args });
    const { settings } = place;
    const buffering = v["proxy-buffering"];
    if (buffering !== undefined && buffering !== settings["proxy-buffering"]) add("buffering", buffering);
    const size = v["proxy-buffer-size"] ?? settings["proxy-buffer-size"];
    const number = v["proxy-buffers-number"] ?? settings["proxy-buffers-number"];
    const busy = v["proxy-busy-buffers-size"] ?? settings["proxy-busy-buffers-size"];
    const maxTemp = v["proxy-max-temp-file-size"] ?? settings["proxy-max-temp-file-size"];
    const own = bufferSizes(size, number, busy, maxTemp);
    const resized = size !== settings["proxy-buffer-size"] || number !== settings["proxy-buffers-number"];
    if (resized) {
      add("buffer_size", size);
      add("buffers", String(own.number), size);
    }
    if (own.busy !== undefined && (resized || own.busy !== settings["proxy-busy-buffers-size"])) add("busy_buffers_size", own.busy);
    if (own.maxTemp !== settings["proxy-max-temp-file-size"]) add("max_temp_file_size", own.maxTemp);
    return out;
  },
});
