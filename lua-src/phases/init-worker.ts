/** init_worker_by_lua. */
import { sync } from "../configuration/sync";
import { joinWorkers } from "../features/connection-count";
import { startMonitor } from "../metrics/monitor";
import { adoptSpans } from "../tracing/exporter";

/** Percent of what is in use at which the next collection starts. With the usual 200, thousands of hosts hold twice their memory. */
const collectorPause = 140;

/** What a worker does without a request. */
function eachSecond(premature: boolean): void {
  if (!premature) {
    sync();
    adoptSpans();
  }
}

/** Workers are forked from one process and would draw the same numbers. */
function run(): void {
  collectgarbage("setpause", collectorPause);
  math.randomseed(ngx.crc32_long(`${ngx.worker.pid()} ${ngx.now()}`));
  joinWorkers();
  startMonitor();
  ngx.timer.every(1, eachSecond);
}

export { run };
