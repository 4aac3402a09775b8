/** How the Ingress that made a backend wants its requests spread. */

import type { BackendDocument } from "../../lua-src/wire.ts";
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
