/** Annotations: custom-headers. Anything wrong with the ConfigMap denies the location, as it always did. */

import { type Denied, feature, type Place, row } from "../catalog/feature.ts";
import { basicText } from "../catalog/kinds.ts";

type Read =
  | { readonly ok: true; readonly headers: readonly { readonly name: string; readonly value: string }[] }
  | { readonly ok: false; readonly denied: Denied };

export const customHeaders = feature({
  name: "custom-headers",
  rows: {
    "custom-headers": row({
      kind: basicText,
      default: undefined,
      risk: "medium",
      onInvalid: "default",
      doc: "ConfigMap (namespace/name) whose entries are set on every answer of the location, in place of the backend's. The ConfigMap key global-allowed-response-headers must list each name; a dollar sign has no meaning.",
    }),
  },
  build(v, place) {
    const named = v["custom-headers"];
    if (named === undefined) return undefined;
    const read = readHeaders(named, place);
    return read.ok && read.headers.length > 0 ? { customHeaders: { headers: read.headers } } : undefined;
  },
  deny(v, place) {
    const named = v["custom-headers"];
    if (named === undefined) return undefined;
    const read = readHeaders(named, place);
    return read.ok ? undefined : read.denied;
  },
});

function readHeaders(named: string, place: Place): Read {
  const no = (code: Denied["code"], reason: string): Read => ({ ok: false, denied: { annotation: "custom-headers", code, reason } });
  const parts = named.split("/");
  if (parts.length !== 2) return no("reference-missing", `"${named}" is not namespace/name of a ConfigMap`);
  const object = place.look.configMap(parts[0] ?? "", parts[1] ?? "");
  if (object === undefined) return no("reference-missing", `there is no ConfigMap ${named}`);
  const allowed = place.settings["global-allowed-response-headers"];
  const headers: { name: string; value: string }[] = [];
  for (const name of Object.keys(object.data).sort()) {
    const value = object.data[name] ?? "";
    if (!/^[A-Za-z0-9_-]+$/.test(name)) return no("location-denied", `${named} holds "${name}", which is no header name`);
    if (!/^[\x20-\x7e]+$/.test(value)) return no("location-denied", `${named}: the value of ${name} is empty or not printable ASCII`);
    if (!allowed.includes(name))
      return no("location-denied", `global-allowed-response-headers does not list ${name}, which ${named} holds`);
    headers.push({ name, value });
  }
  return { ok: true, headers };
}
