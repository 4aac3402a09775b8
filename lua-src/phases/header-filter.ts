/** header_filter_by_lua. */

import { settings } from "../configuration/settings";
import type { RequestState } from "../features/feature";
import { runSteps } from "../features/order";

function clearServer(): void {
  ngx.header.set("Server", undefined);
}

function run(): void {
  const route = (ngx.ctx as Partial<RequestState>).route;
  if (route?.header !== undefined) {
    runSteps(route.header, ngx.ctx as RequestState);
  }
  if (settings.clearServer) {
    clearServer();
  }
}

export { clearServer, run };
