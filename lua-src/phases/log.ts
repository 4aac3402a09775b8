/** log_by_lua. */
import type { RequestState } from "../features/feature";
import { runSteps } from "../features/order";

function run(): void {
  const request = ngx.ctx as Partial<RequestState>;
  const route = request.route;
  if (route?.log !== undefined) {
    runSteps(route.log, request as RequestState);
  }
}

export { run };
