/** log_by_lua. */
import { endHolds, holds } from "../base/holds";
import { settings } from "../configuration/settings";
import { recallState } from "../features/custom-errors";
import type { RequestState } from "../features/feature";
import { runSteps } from "../features/order";
import { count } from "../metrics/monitor";

/** Undefined: it never had a route. A snippet may have answered before our own hook had the state back. */
function currentRequest(): RequestState | undefined {
  const request = ngx.ctx as Partial<RequestState>;
  return request.route === undefined ? recallState() : (request as RequestState);
}

function run(): void {
  const request = currentRequest();
  if (request !== undefined) {
    const steps = request.route.more?.log;
    if (steps !== undefined) {
      runSteps(steps, request);
    }
    if (settings.metrics !== undefined) {
      count(request);
    }
  }
  if (holds.open > 0) {
    endHolds();
  }
}

export { run };
