/** How the Ingress that made a backend wants its requests spread. */

import type { BackendDocument } from "../../lua-src/wire.ts";
import type { Finding } from "../model/finding.ts";
import type { Accepted } from "./accept.ts";

type Balancing = Partial<Pick<BackendDocument, "load-balance" | "maxInFlight" | "slowStart">> &
  Pick<BackendDocument, "upstreamHashByConfig">;

export function balancingOf(owner: Accepted): Balancing {
  const { values } = owner.annotations;
  const algorithm = values["load-balance"] as string | undefined;
  const limit = values["sluice/max-in-flight"] as number;
  const seconds = values["sluice/slow-start"] as number;
  return {
    ...(algorithm === undefined || algorithm === "" ? {} : { "load-balance": algorithm }),
    ...(limit === 0 ? {} : { maxInFlight: limit }),
    ...(seconds === 0 ? {} : { slowStart: seconds }),
    upstreamHashByConfig: hashingOf(values),
  };
}

function hashingOf(values: Readonly<Record<string, unknown>>): BackendDocument["upstreamHashByConfig"] {
  const key = values["upstream-hash-by"] as string | undefined;
  if (key === undefined) return {};
  if (values["upstream-hash-by-subset"] !== true) return { "upstream-hash-by": key };
  return {
    "upstream-hash-by": key,
    "upstream-hash-by-subset": true,
    "upstream-hash-by-subset-size": values["upstream-hash-by-subset-size"] as number,
  };
}

const settings = [
  "load-balance",
  "upstream-hash-by",
  "upstream-hash-by-subset",
  "upstream-hash-by-subset-size",
  "service-upstream",
  "sluice/max-in-flight",
  "sluice/slow-start",
];

/** What `owner` says of a backend in vain, because `first` made it and says otherwise. */
export function lostSettings(backend: string, owner: Accepted, first: Accepted): Finding | undefined {
  const [mine, theirs] = [owner.annotations, first.annotations.values];
  const lost = settings.filter((name) => mine.given.has(name) && mine.values[name] !== theirs[name]);
  if (lost.length === 0) return undefined;
  const text = `${backend} is balanced as the older Ingress ${first.ref.namespace}/${first.ref.name} says`;
  return { code: "backend-conflict", about: owner.ref, at: lost.join(", "), text, also: [first.ref] };
}
