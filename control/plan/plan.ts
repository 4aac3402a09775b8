/** Model → Plan: documents, and which profiles nginx.conf must hold. */

import type { ConfBasis } from "../model/conf-basis.ts";
import type { Model } from "../model/model.ts";
import type { Profile } from "./conf-view.ts";
import type { Documents } from "./documents.ts";
import { builtInProfiles, profileOf } from "./profiles.ts";

export interface Plan {
  readonly documents: Documents;
  readonly basis: ConfBasis;
  /** By id: those that routes name and the built-in ones. */
  readonly profiles: ReadonlyMap<string, Profile>;
}

export function profilesOf(model: Model): Map<string, Profile> {
  const out = new Map<string, Profile>(builtInProfiles().map((p) => [p.id, p]));
  for (const host of model.hosts) {
    for (const route of host.routes) {
      const profile = profileOf(route);
      if (profile !== undefined) out.set(profile.id, profile);
    }
  }
  return out;
}
