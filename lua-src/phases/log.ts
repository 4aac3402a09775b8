/** log_by_lua. */
import { endHolds, holds } from "../base/holds";
import { settings } from "../configuration/settings";
import type { RequestState } from "../features/feature";
import { runSteps } from "../features/order";
import { count } from "../metrics/monitor";

function run(): void {
  const request = ngx.ctx as RequestState;
  const steps = (request as Partial<RequestState>).route?.more?.log;
  if (steps !== undefined) {
    runSteps(steps, request);
  }
  if (settings.metrics !== undefined && (request as Partial<RequestState>).route !== undefined) {
    count(request);
  }
  if (holds.open > 0) {
    endHolds();
  }
}

export { run };
