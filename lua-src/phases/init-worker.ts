/** init_worker_by_lua. */

/** Workers are forked from one process and would draw the same numbers. */
function run(): void {
  math.randomseed(ngx.crc32_long(`${ngx.worker.pid()} ${ngx.now()}`));
}

export { run };
