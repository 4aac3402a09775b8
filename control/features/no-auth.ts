/** ConfigMap no-auth-locations: paths that need no credentials. */

import type { Place } from "../catalog/feature.ts";

/** The path of the Ingress counts, not that of the request. */
export function isExempt(place: Pick<Place, "path" | "settings">): boolean {
  return place.settings["no-auth-locations"].some((start) => start.trim() !== "" && place.path.startsWith(start.trim()));
}
