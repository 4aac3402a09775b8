/** header_filter_by_lua. */

import { settings } from "../configuration/settings";
import type { RequestState } from "../features/feature";
import { runSteps } from "../features/order";

function clearServer(): void {
  ngx.header.set("Server", undefined);
}

function run(): void {
  const request = ngx.ctx as RequestState;
  const steps = (request as Partial<RequestState>).route?.more?.header;
  if (steps !== undefined) {
    runSteps(steps, request);
  }
  if (settings.clearServer) {
    clearServer();
  }
}

export { clearServer, run };
