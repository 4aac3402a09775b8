/** While nginx.conf has to wait: what of a plan may be sent all the same, because the conf that runs has all that it needs. */

import { isDeepStrictEqual } from "node:util";
import type { ConfBasis } from "../model/conf-basis.ts";
import type { ConfParts, Plan } from "../plan/plan.ts";
import type { Deltas } from "./dataplane.ts";
import type { Running } from "./tester.ts";

type Delta = Deltas["backends"];

/** Nothing is removed that hosts of before may still name. Hosts only where `now` and the plan differ in nothing else. */
export function beforeReload(change: Required<Deltas>, plan: Plan, conf: Running, now: Running | undefined): Deltas {
  const { certificates, backends, servers, users, networks, hosts, general } = change;
  const named = { certificates: keep(certificates), users: keep(users), networks: keep(networks) };
  const early: Deltas = { ...named, backends: keep(backends), servers: keep(servers) };
  if (now === undefined || !isSameRule(now.basis, conf.basis)) return early;
  const upsert = new Map([...hosts.upsert].filter(([host]) => plan.needsOf(host).every((key) => hasPart(now.parts, plan.parts, key))));
  return { ...early, hosts: { upsert, remove: hosts.remove }, ...(general === "" ? {} : { general }) };
}

function keep(delta: NonNullable<Delta>): NonNullable<Delta> {
  return { upsert: delta.upsert, remove: [] };
}

function isSameRule(a: ConfBasis, b: ConfBasis): boolean {
  return a.settings === b.settings && a.requestHeaders === b.requestHeaders && a.responseHeaders === b.responseHeaders;
}

/** A server block counts only with the same hosts. */
function hasPart(there: ConfParts, wanted: ConfParts, key: string): boolean {
  if (there.profiles.has(key) || there.streams.has(key)) return true;
  return there.servers.has(key) && isDeepStrictEqual(there.servers.get(key), wanted.servers.get(key));
}
