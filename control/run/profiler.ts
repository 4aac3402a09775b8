/**
 * --profiling: profiles of this process for Chrome's developer tools and other readers of V8's formats, at the paths
 * where Go programs have theirs. There is no heap snapshot: it would hold every key and password of the cluster's Secrets.
 */

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { Session } from "node:inspector/promises";
import type { AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { getHeapSpaceStatistics, getHeapStatistics } from "node:v8";
import type { Logger } from "./logger.ts";

export interface ProfilerOptions {
  readonly host: string;
  readonly port: number;
  readonly logger: Logger;
}

export interface ProfilerServer {
  /** The one listened on; differs from the wanted one when that was 0. */
  readonly port: number;
  stop(): Promise<void>;
}

const defaultSeconds = 30;
const mostSeconds = 300;
/** Bytes between two samples of allocations. */
const heapInterval = 32_768;

const index = `/debug/pprof/profile?seconds=30   CPU profile, JSON (.cpuprofile)
/debug/pprof/heap?seconds=30      sampled allocations that are still alive, JSON (.heapprofile)
/debug/pprof/heap?debug=1         memory by use, JSON
/debug/pprof/cmdline              the command line
`;

type Taken = (session: Session, seconds: number, signal: AbortSignal) => Promise<unknown>;

async function cpuProfile(session: Session, seconds: number, signal: AbortSignal): Promise<unknown> {
  await session.post("Profiler.enable");
  await session.post("Profiler.start");
  await pause(seconds * 1000, undefined, { signal });
  return (await session.post("Profiler.stop")).profile;
}

async function heapProfile(session: Session, seconds: number, signal: AbortSignal): Promise<unknown> {
  await session.post("HeapProfiler.startSampling", { samplingInterval: heapInterval });
  await pause(seconds * 1000, undefined, { signal });
  return (await session.post("HeapProfiler.stopSampling")).profile;
}

function memory(): object {
  return { process: process.memoryUsage(), heap: getHeapStatistics(), spaces: getHeapSpaceStatistics() };
}

/** One profile at a time: each slows the controller down. */
class Profiles {
  #busy = false;

  /** Answers with the profile; gives it up when the client goes. */
  async take(request: IncomingMessage, response: ServerResponse, taken: Taken, seconds: number): Promise<void> {
    if (this.#busy) {
      send(response, 409, "text/plain", "another profile is being taken\n");
      return;
    }
    this.#busy = true;
    const gone = new AbortController();
    request.once("close", () => gone.abort());
    const session = new Session();
    session.connect();
    try {
      const profile = await taken(session, seconds, gone.signal);
      response.setHeader("content-disposition", `attachment; filename="controller.${taken === cpuProfile ? "cpu" : "heap"}profile"`);
      send(response, 200, "application/json", JSON.stringify(profile));
    } catch (error) {
      if (!gone.signal.aborted) throw error;
    } finally {
      session.disconnect();
      this.#busy = false;
    }
  }
}

/** Undefined when the port cannot be had: nothing depends on it. */
export function startProfiler(options: ProfilerOptions): Promise<ProfilerServer | undefined> {
  const { host, port, logger } = options;
  const profiles = new Profiles();
  const server = createServer((request, response) => {
    answer(profiles, request, response).catch((error: Error) => {
      logger.error("profiling failed", { url: request.url, error });
      if (!response.headersSent) send(response, 500, "text/plain", `${error.message}\n`);
    });
  });
  return new Promise((resolve) => {
    server.once("error", (error) => {
      logger.warning("the profiler cannot listen, nothing else needs it", { host, port, error });
      resolve(undefined);
    });
    server.listen({ port, ...(host === "" ? {} : { host }) }, () => {
      const stop = () =>
        new Promise<void>((done) => {
          server.close(() => done());
          server.closeAllConnections();
        });
      resolve({ port: (server.address() as AddressInfo).port, stop });
    });
  });
}

async function answer(profiles: Profiles, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname, searchParams } = new URL(request.url ?? "/", "http://profiler");
  const seconds = secondsOf(searchParams.get("seconds"));
  if (request.method !== "GET") send(response, 405, "text/plain", "only GET\n");
  else if (seconds === undefined) send(response, 400, "text/plain", `seconds: a number above 0, up to ${mostSeconds}\n`);
  else if (pathname === "/debug/pprof" || pathname === "/debug/pprof/") send(response, 200, "text/plain", index);
  else if (pathname === "/debug/pprof/cmdline") send(response, 200, "text/plain", process.argv.join("\0"));
  else if (pathname === "/debug/pprof/profile") await profiles.take(request, response, cpuProfile, seconds);
  else if (pathname !== "/debug/pprof/heap") send(response, 404, "text/plain", `404 page not found; there are:\n${index}`);
  else if (searchParams.has("debug")) send(response, 200, "application/json", JSON.stringify(memory(), undefined, 2));
  else await profiles.take(request, response, heapProfile, seconds);
}

/** Undefined: not a number of seconds. */
function secondsOf(text: string | null): number | undefined {
  if (text === null) return defaultSeconds;
  const seconds = Number(text);
  return seconds > 0 && seconds <= mostSeconds ? seconds : undefined;
}

function send(response: ServerResponse, status: number, type: string, body: string): void {
  response.writeHead(status, { "content-type": `${type}; charset=utf-8`, "x-content-type-options": "nosniff" });
  response.end(body);
}
