/** allowlist-source-range and denylist-source-range; a list that the route does not have is the ConfigMap's. */
import { clientBytes } from "../access/client-address";
import { contains, type Networks, networksOf } from "../access/networks";
import { addresses, object } from "../configuration/check";
import { generalState } from "../configuration/general";
import type { IpAccessDocument } from "../wire";
import type { Feature } from "./feature";

interface IpAccess {
  readonly allow: Networks | undefined;
  readonly deny: Networks | undefined;
}

/** Deny first; without an allow list an address that is not denied has no say (it matters to satisfy any). */
function access(config: IpAccess): LuaMultiReturn<[number?, string?]> {
  const bytes = clientBytes();
  const deny = config.deny ?? generalState.deny;
  if (deny !== undefined && contains(deny, bytes)) {
    return $multi(403);
  }
  const allow = config.allow ?? generalState.allow;
  if (allow === undefined) {
    return $multi();
  }
  return $multi(contains(allow, bytes) ? 200 : 403);
}

export const ipAccess: Feature<IpAccessDocument, IpAccess> = {
  check: object({ "allow?": addresses, "deny?": addresses }),
  prepare: ({ allow, deny }) => ({
    allow: allow === undefined ? undefined : networksOf(allow),
    deny: deny === undefined ? undefined : networksOf(deny),
  }),
  access,
};
