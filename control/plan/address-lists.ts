/** Long lists of addresses are sent once and named by the routes that have them. */

import { createHash } from "node:crypto";
import type { Addresses, FeatureDocuments } from "../../lua-src/wire.ts";

/** Characters; shorter ones are no longer than a name and its entry. */
const long = 100;

/** Adds what it names to `networks`, by id. */
export function withSharedLists(features: FeatureDocuments, networks: Map<string, string>): FeatureDocuments {
  const { ipAccess, rateLimit } = features;
  if (ipAccess === undefined && rateLimit?.allow === undefined) return features;
  const shared = (list: Addresses): Addresses => share(list, networks);
  return {
    ...features,
    ...(ipAccess === undefined
      ? {}
      : {
          ipAccess: {
            ...(ipAccess.allow === undefined ? {} : { allow: shared(ipAccess.allow) }),
            ...(ipAccess.deny === undefined ? {} : { deny: shared(ipAccess.deny) }),
          },
        }),
    ...(rateLimit?.allow === undefined ? {} : { rateLimit: { ...rateLimit, allow: shared(rateLimit.allow) } }),
  };
}

function share(list: Addresses, networks: Map<string, string>): Addresses {
  if (typeof list === "string") return list;
  const text = list.join(",");
  if (text.length < long) return list;
  const id = createHash("sha256").update(text).digest("base64url").slice(0, 22);
  networks.set(id, text);
  return id;
}
