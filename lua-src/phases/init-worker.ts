/** init_worker_by_lua. */
import { joinWorkers } from "../features/connection-count";

/** Workers are forked from one process and would draw the same numbers. */
function run(): void {
  math.randomseed(ngx.crc32_long(`${ngx.worker.pid()} ${ngx.now()}`));
  joinWorkers();
}

export { run };
