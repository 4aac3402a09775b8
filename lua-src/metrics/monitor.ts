/**
 * Request metrics: counted per worker, sent once a second over the controller's unix socket. A request looks up its
 * counters by host, route, status and method, and adds to them; nothing is recorded per request, nothing is dropped.
 */
import { logWarning } from "../base/log";
import { settings } from "../configuration/settings";
import type { RequestState } from "../features/feature";
import { isNamedHost } from "../router/host";
import type { Route } from "../router/route";
import type { MetricsLine } from "../wire";
import { changesOf, type Layout, layoutOf, newSeries, observe, type Series } from "./series";
import { handOver, isFree, send, sendAgain, takeOver } from "./transport";

type ByMethod = LuaTable<string, Series>;
type ByStatus = LuaTable<number, ByMethod>;
/** By route; requests that a canary served by its name first. */
interface HostCounts {
  readonly routes: LuaTable<Route, ByStatus>;
  canaries: LuaTable<string, LuaTable<Route, ByStatus>> | undefined;
}

/** False: a host that is not counted. */
let hosts = new LuaTable<string, HostCounts | false>();
/** Counts of hosts whose documents have changed since lines were last taken; host and counts by turns. */
let setAside = new LuaTable<number, string | HostCounts>();
let setAsideCount = 0;
let layout: Layout | undefined;
let leaving = false;
/** Sets of labels since lines were last taken, and names of hosts that are not counted. */
let opened = 0;
let uncounted = 0;

/** More are not gathered while the controller is away: they are lost, with a word in the log. */
const mostOpened = 50_000;

/** $host of a request without one: the catch-all's server_name. */
const noHost = "_";

const methods = new LuaTable<string, true>();
for (const method of "GET HEAD POST PUT DELETE PATCH OPTIONS TRACE CONNECT COPY MOVE MKCOL PROPFIND PROPPATCH LOCK UNLOCK PRI".split(" ")) {
  methods.set(method, true);
}

function openHost(name: string): HostCounts | undefined {
  const metrics = settings.metrics!;
  if (metrics.perHost && !metrics.undefinedHosts && name !== noHost && !isNamedHost(name)) {
    uncounted += 1;
    hosts.set(name, false);
    return undefined;
  }
  const counts: HostCounts = { routes: new LuaTable(), canaries: undefined };
  hosts.set(name, counts);
  return counts;
}

function routesOf(counts: HostCounts, { route, backend }: RequestState): LuaTable<Route, ByStatus> {
  if (backend === undefined || route.backend === undefined || backend === route.backend || route.backend.alternatives === undefined) {
    return counts.routes;
  }
  // by now it may be who answers errors
  const canary = ngx.var.get("proxy_alternative_upstream_name");
  if (canary === undefined || canary === "") {
    return counts.routes;
  }
  counts.canaries = counts.canaries ?? new LuaTable();
  let routes: LuaTable<Route, ByStatus> | undefined = counts.canaries.get(canary);
  if (routes === undefined) {
    routes = new LuaTable();
    counts.canaries.set(canary, routes);
  }
  return routes;
}

function openSeries(statuses: ByStatus, status: number, method: string): Series {
  let byMethod: ByMethod | undefined = statuses.get(status);
  if (byMethod === undefined) {
    byMethod = new LuaTable();
    statuses.set(status, byMethod);
  }
  const known = methods.get(method) === true ? method : "OTHER";
  let series: Series | undefined = byMethod.get(known);
  if (series === undefined) {
    series = newSeries(layout!);
    opened += 1;
    byMethod.set(known, series);
  }
  return series;
}

function seriesOf(request: RequestState): Series | undefined {
  const name = settings.metrics!.perHost ? (ngx.var.get("host") ?? "") : "";
  const known = hosts.get(name) as HostCounts | false | undefined;
  if (known === false) {
    return undefined;
  }
  const counts = known ?? openHost(name);
  if (counts === undefined) {
    return undefined;
  }
  const routes = routesOf(counts, request);
  let statuses: ByStatus | undefined = routes.get(request.route);
  if (statuses === undefined) {
    statuses = new LuaTable();
    routes.set(request.route, statuses);
  }
  const status = ngx.status;
  const method = ngx.req.get_method();
  const byMethod: ByMethod | undefined = statuses.get(status);
  const series: Series | undefined = byMethod === undefined ? undefined : byMethod.get(method);
  return series ?? openSeries(statuses, status, method);
}

/** One value: after retries nginx gives a list, which counts for nothing. */
function observeUpstream(counters: LuaTable<number, number>, histogram: number, variable: string): void {
  const value = tonumber(ngx.var.get(variable));
  if (value !== undefined) {
    observe(layout!, counters, histogram, value);
  }
}

/** In the log phase. */
function count(request: RequestState): void {
  const series = seriesOf(request);
  if (series === undefined) {
    return;
  }
  series.requests += 1;
  const counters = series.counters;
  const known = layout!;
  observe(known, counters, 1, ngx.now() - ngx.req.start_time());
  if (request.tries > 0) {
    observeUpstream(counters, 2, "upstream_connect_time");
    observeUpstream(counters, 3, "upstream_header_time");
    observeUpstream(counters, 4, "upstream_response_time");
  }
  observe(known, counters, 5, tonumber(ngx.var.get("request_length")) ?? 0);
  const sent = tonumber(ngx.var.get("bytes_sent")) ?? 0;
  observe(known, counters, 6, sent);
  observe(known, counters, 7, sent);
  if (leaving) {
    flush();
  }
}

function addLines(lines: MetricsLine[], host: string, canary: string, routes: LuaTable<Route, ByStatus>): void {
  for (const [route, statuses] of pairs(routes)) {
    const source = route.source;
    for (const [status, byMethod] of pairs(statuses)) {
      for (const [method, series] of pairs(byMethod)) {
        lines[lines.length] = [
          host,
          source.get(1)!,
          source.get(2)!,
          source.get(3)!,
          source.get(5)!,
          canary,
          method,
          status,
          changesOf(series, layout!) as unknown as readonly number[],
        ];
      }
    }
  }
}

function addHost(lines: MetricsLine[], host: string, counts: HostCounts): void {
  addLines(lines, host, "", counts.routes);
  for (const [canary, routes] of pairs(counts.canaries ?? new LuaTable<string, LuaTable<Route, ByStatus>>())) {
    addLines(lines, host, canary, routes);
  }
}

function startAnew(): void {
  hosts = new LuaTable();
  setAside = new LuaTable();
  setAsideCount = 0;
  opened = 0;
  uncounted = 0;
}

/** What was counted since the last time; counting starts anew. */
function takeLines(): MetricsLine[] {
  const [counted, before, beforeCount] = [hosts, setAside, setAsideCount];
  startAnew();
  const lines: MetricsLine[] = [];
  for (const i of $range(1, beforeCount, 2)) {
    addHost(lines, before.get(i) as string, before.get(i + 1) as HostCounts);
  }
  for (const [host, counts] of pairs(counted)) {
    if (counts !== false) {
      addHost(lines, host, counts);
    }
  }
  return lines;
}

/** Whether the host is counted is asked again: its document came, changed or went. */
function forgetCounted(host: string): void {
  const counts = hosts.get(host) as HostCounts | false | undefined;
  if (counts !== undefined && counts !== false) {
    setAside.set(setAsideCount + 1, host);
    setAside.set(setAsideCount + 2, counts);
    setAsideCount += 2;
  }
  hosts.delete(host);
}

/** The same for these hosts; undefined: for all. */
function forgetCountedHosts(names: readonly string[] | undefined): void {
  if (names === undefined) {
    for (const [host] of pairs(hosts)) {
      forgetCounted(host);
    }
    return;
  }
  for (const name of names) {
    forgetCounted(name);
  }
}

/** While the controller is away. */
function dropTooMany(): void {
  if (opened > mostOpened) {
    logWarning("metrics are lost, the controller does not take them", `${opened} sets of labels`);
    startAnew();
  }
  if (uncounted > mostOpened) {
    for (const [host, counts] of pairs(hosts)) {
      if (counts === false) {
        hosts.delete(host);
      }
    }
    uncounted = 0;
  }
}

/** A worker on its way out can open no socket when its last requests end: those that stay send for it. */
function flush(): void {
  if (leaving) {
    handOver(takeLines());
    return;
  }
  sendAgain();
  // sending yields: this worker may be on its way out by now
  if (isFree() && !leaving) {
    const lines = takeLines();
    takeOver(lines);
    send(lines);
  } else {
    dropTooMany();
  }
}

function onTimer(premature: boolean): void {
  leaving = leaving || premature;
  flush();
}

/** In each worker's start. */
function startMonitor(): void {
  const metrics = settings.metrics;
  if (metrics !== undefined) {
    layout = layoutOf(metrics);
    ngx.timer.every(1, onTimer);
  }
}

export { count, forgetCountedHosts, startMonitor, takeLines };
