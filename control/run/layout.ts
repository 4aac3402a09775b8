/** Where things lie below --runtime-dir, and as whom nginx's workers run. */

import { chmodSync, existsSync, mkdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

export interface Layout {
  readonly runtimeDir: string;
  /** Mode 0700: nginx.conf, socket, keys. */
  readonly privateDir: string;
  readonly confFile: string;
  readonly pidFile: string;
  readonly socket: string;
  /** Outside the private folder: workers of another user deliver there. */
  readonly metricsSocket: string;
  readonly spanSocket: string;
  /** So is this one: they connect to it for hosts whose TLS is passed through. */
  readonly passthroughSocket: string;
  /** What profiles read: keys and certificates towards backends. */
  readonly filesDir: string;
  /** Tests of what admission is asked about. */
  readonly trialDir: string;
  readonly tempDir: string;
  /** Endpoints of TCP and UDP services; workers read them. */
  readonly streamsDir: string;
  /** Databases that were fetched, where --geoip-dir cannot be written to. */
  readonly geoipDir: string;
  readonly fakeCertificate: string;
  readonly fakeKey: string;
}

/** Names only; dbg uses it to find the socket of a running controller. */
export function layoutOf(runtimeDir: string): Layout {
  const dir = resolve(runtimeDir);
  const privateDir = join(dir, "private");
  return {
    runtimeDir: dir,
    privateDir,
    confFile: join(privateDir, "nginx.conf"),
    pidFile: join(dir, "nginx.pid"),
    socket: join(privateDir, "configuration.sock"),
    metricsSocket: join(dir, "metrics.sock"),
    spanSocket: join(dir, "spans.sock"),
    passthroughSocket: join(dir, "passthrough.sock"),
    filesDir: join(privateDir, "files"),
    trialDir: join(privateDir, "trial"),
    tempDir: join(dir, "temp"),
    streamsDir: join(dir, "streams"),
    geoipDir: join(dir, "geoip"),
    fakeCertificate: join(privateDir, "fake.crt"),
    fakeKey: join(privateDir, "fake.key"),
  };
}

/** Makes the folders. Workers of another user must get through to two of them, and to nothing else. */
export function makeFolders(layout: Layout, logDir: string): void {
  mkdirSync(layout.runtimeDir, { recursive: true });
  chmodSync(layout.runtimeDir, 0o711);
  mkdirSync(layout.privateDir, { recursive: true });
  chmodSync(layout.privateDir, 0o700);
  for (const open of [layout.tempDir, layout.streamsDir]) {
    mkdirSync(open, { recursive: true });
    chmodSync(open, 0o711);
  }
  mkdirSync(logDir, { recursive: true });
}

/** User for nginx's workers; undefined when the controller is not root and they run as itself. */
export function workerUser(layout: Layout): string | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const known = readFileSync("/etc/passwd", "utf8");
  const name = ["www-data", "nginx", "nobody"].find((n) => new RegExp(`^${n}:`, "m").test(known));
  return name !== undefined && reachable(layout.tempDir) ? name : "root";
}

function reachable(dir: string): boolean {
  for (let d = dir; ; d = dirname(d)) {
    if ((statSync(d).mode & 0o001) === 0) return false;
    if (dirname(d) === d) return true;
  }
}

/** Folder of the shipped templates and Lua: beside the bundle, or dist/ of a checkout. */
export function shippedDir(): string {
  const here = dirname(fileURLToPath(import.meta.url));
  return existsSync(join(here, "nginx")) && existsSync(join(here, "lua")) ? here : resolve(here, "../../dist");
}
