/** Annotations: FastCGI backends. */

import { type Denied, feature, type Place, row } from "../catalog/feature.ts";
import { pattern, type RefText, ref } from "../catalog/kinds.ts";
import type { Fixed } from "../model/model.ts";
import type { ConfigMap } from "../source/kinds.ts";

const fileName = pattern("file name", /^[A-Za-z0-9._-]+$/, "index.php", "a b");
const paramName = /^[A-Za-z0-9._-]+$/;
const paramValue = /^[A-Za-z0-9\-_${}/.]+$/;

function isForeign(params: RefText, place: Place): boolean {
  const own = place.ingress.metadata.namespace;
  return params.namespace !== undefined && params.namespace !== own && !place.settings["allow-cross-namespace-resources"];
}

function configMapOf(params: RefText, place: Place): ConfigMap | undefined {
  return place.look.configMap(params.namespace ?? place.ingress.metadata.namespace, params.name);
}

export const fastcgi = feature({
  name: "fastcgi",
  rows: {
    "fastcgi-index": row({
      kind: fileName,
      default: undefined,
      risk: "medium",
      onInvalid: "reject",
      applies: "profile",
      doc: "fastcgi_index of the location: the file of a URI that ends in a slash.",
    }),
    "fastcgi-params-configmap": row({
      kind: ref,
      default: undefined,
      risk: "medium",
      onInvalid: "reject",
      applies: "profile",
      doc: "ConfigMap whose entries become fastcgi_param (key letters digits . - _, value letters digits - _ $ { } / .; variables are meant). One of another namespace is left out unless allow-cross-namespace-resources; a missing one denies the location.",
    }),
  },
  notices(v, place) {
    const params = v["fastcgi-params-configmap"];
    if (params === undefined || !isForeign(params, place)) return [];
    return [
      {
        annotation: "fastcgi-params-configmap",
        reason: `ConfigMap ${params.namespace}/${params.name} is of another namespace; it is left out`,
      },
    ];
  },
  deny(v, place): Denied | undefined {
    const params = v["fastcgi-params-configmap"];
    if (params === undefined || isForeign(params, place)) return undefined;
    const annotation = "fastcgi-params-configmap";
    const map = configMapOf(params, place);
    if (map === undefined) return { annotation, code: "reference-missing", reason: `there is no ConfigMap ${params.name}` };
    const bad = Object.entries(map.data).find(([name, value]) => !paramName.test(name) || !paramValue.test(value));
    if (bad === undefined) return undefined;
    return {
      annotation,
      code: "annotation-invalid",
      reason: `entry ${JSON.stringify(bad[0])} of ConfigMap ${params.name} is no parameter`,
    };
  },
  fixed(v, place) {
    if (place.protocol !== "FCGI") return [];
    const index = v["fastcgi-index"];
    const params = v["fastcgi-params-configmap"];
    const out: Fixed[] = index === undefined ? [] : [{ name: "fastcgi_index", args: [index] }];
    if (params === undefined || isForeign(params, place)) return out;
    const data = configMapOf(params, place)?.data ?? {};
    for (const name of Object.keys(data).sort()) out.push({ fastcgiParam: name, value: data[name] ?? "" });
    return out;
  },
});
