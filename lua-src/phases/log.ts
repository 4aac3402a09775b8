/** log_by_lua. */
import { endHolds, holds } from "../base/holds";
import type { RequestState } from "../features/feature";
import { runSteps } from "../features/order";

function run(): void {
  const request = ngx.ctx as RequestState;
  const steps = (request as Partial<RequestState>).route?.more?.log;
  if (steps !== undefined) {
    runSteps(steps, request);
  }
  if (holds.open > 0) {
    endHolds();
  }
}

export { run };
