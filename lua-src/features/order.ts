/** The features that act per request, in the order in which they act: one list for all phases. */
import { type Check, flag, integer, object } from "../configuration/check";
import type { FeatureDocuments } from "../wire";
import { accessLog } from "./access-log";
import { answerRewrite } from "./answer-rewrite";
import { authBasic } from "./auth-basic";
import { authExternal } from "./auth-external";
import { clientCertificate } from "./client-certificate";
import { connectionHeader } from "./connection-header";
import { cors } from "./cors";
import { customErrors } from "./custom-errors";
import { customHeaders } from "./custom-headers";
import type { Feature, RequestState, Step } from "./feature";
import { inFlight } from "./in-flight";
import { ipAccess } from "./ip-access";
import { limitRate } from "./limit-rate";
import { measure } from "./measure";
import { mirror } from "./mirror";
import { rateLimit } from "./rate-limit";
import { redirect } from "./redirect";
import { rewrite } from "./rewrite";
import { sslRedirect } from "./ssl-redirect";
import { trace } from "./trace";
import { upstreamVhost } from "./upstream-vhost";

interface Place {
  readonly name: keyof FeatureDocuments;
  readonly feature: Feature<unknown, unknown>;
}

function place<D, C>(name: keyof FeatureDocuments, feature: Feature<D, C>): Place {
  return { name, feature: feature as unknown as Feature<unknown, unknown> };
}

/** Fixed answers, host-wide denial and app-root come before any of these: phases/server-rewrite.ts. */
const order: readonly Place[] = [
  // first: whatever becomes of the request, it has its span
  place("trace", trace),
  // redirects and refusals below are not logged either
  place("accessLog", accessLog),
  // before anything that refuses: refusals are errors too
  place("customErrors", customErrors),
  // before cors, whose headers win where both name one
  place("customHeaders", customHeaders),
  // a preflight follows no redirect
  place("cors", cors),
  // before the redirect to https, so plain http reaches its target in one step
  place("redirect", redirect),
  place("upstreamVhost", upstreamVhost),
  place("answerRewrite", answerRewrite),
  place("connectionHeader", connectionHeader),
  // the redirect to https uses the raw URI, so rewriting may come first, as it did with nginx' own rewrite
  place("rewrite", rewrite),
  place("sslRedirect", sslRedirect),
  // a late step, so after the redirect to https; before authentication by subrequest, which passes the certificate on
  place("clientCertificate", clientCertificate),
  // before address lists and authentication, which a flood must not reach
  place("rateLimit", rateLimit),
  // nginx's order: an address costs least to check, credentials more
  place("ipAccess", ipAccess),
  place("authBasic", authBasic),
  // after all other checks, as a question to another service costs most; it may put an Authorization where the client's was
  place("authExternal", authExternal),
  place("limitRate", limitRate),
  // last of those that may refuse: what is refused anyway takes nobody's place
  place("inFlight", inFlight),
  // last: what was refused is not copied
  place("mirror", mirror),
  place("measure", measure),
];

const milliseconds = integer(1, 2147483647);

/** Read by the router itself: no step of their own. */
const featureChecks: Record<string, Check> = {
  "timeouts?": object({ "connect?": milliseconds, "send?": milliseconds, "read?": milliseconds }),
  "retries?": object({ tries: integer(0, 1000000), "refused?": flag }),
  "redirectStyle?": object({ "relative?": flag, "port?": flag }),
  "satisfy?": object({ any: flag }),
  "session?": object({ issue: flag }),
};
for (const { name, feature } of order) {
  featureChecks[`${name}?`] = feature.check;
}

/** Function at odd places, what `prepare` made at even ones. */
export interface Steps {
  readonly list: LuaTable<number, unknown>;
  readonly count: number;
}

export interface CompiledSteps {
  readonly early: Steps | undefined;
  readonly late: Steps | undefined;
  readonly access: Steps | undefined;
  readonly passed: Steps | undefined;
  readonly refused: Steps | undefined;
  readonly header: Steps | undefined;
  readonly log: Steps | undefined;
}

type Phase = keyof CompiledSteps;

function collect(phase: Phase, prepared: LuaTable<string, unknown>): Steps | undefined {
  const list = new LuaTable<number, unknown>();
  let count = 0;
  for (const { name, feature } of order) {
    const step = feature[phase];
    const config = prepared.get(name);
    if (step !== undefined && config !== undefined) {
      list.set(count + 1, step);
      list.set(count + 2, config);
      count += 2;
    }
  }
  return count === 0 ? undefined : { list, count };
}

function compileSteps(documents: FeatureDocuments): CompiledSteps {
  const prepared = new LuaTable<string, unknown>();
  for (const { name, feature } of order) {
    const document = documents[name];
    if (document !== undefined) {
      prepared.set(name, feature.prepare(document));
    }
  }
  return {
    early: collect("early", prepared),
    late: collect("late", prepared),
    access: collect("access", prepared),
    passed: collect("passed", prepared),
    refused: collect("refused", prepared),
    header: collect("header", prepared),
    log: collect("log", prepared),
  };
}

/** Runs until one step answers. */
function runSteps(steps: Steps, request: RequestState): LuaMultiReturn<[number | undefined, string | undefined]> {
  const list = steps.list;
  for (const i of $range(1, steps.count, 2)) {
    const step = list.get(i) as Step<unknown>;
    const [status, location] = step(list.get(i + 1), request);
    if (status !== undefined) {
      return $multi(status, location);
    }
  }
  return $multi(undefined, undefined);
}

export { compileSteps, featureChecks, runSteps };
