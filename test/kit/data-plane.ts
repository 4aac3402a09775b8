/** A real nginx with our templates and Lua in a folder of its own, its /configuration client, and upstreams to proxy to. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isLeaving } from "../../control/apply/processes.ts";
import { renderConf } from "../../control/apply/render.ts";
import type { ConfView } from "../../control/plan/conf-view.ts";
import type { BackendDocument, Batch, FeatureDocuments, GeneralDocument, HostDocument, RouteDocument } from "../../lua-src/wire.ts";
import { projectFiles, sampleConfView } from "./conf-view.ts";
import { workersOf } from "./worker-processes.ts";

const moduleDir = "/usr/lib/nginx/modules";

export function moduleFiles(...names: readonly string[]): string[] {
  return names.map((name) => join(moduleDir, `${name}.so`)).filter((path) => existsSync(path));
}

export interface Reply {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: string;
}

async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer();
      await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
      return server;
    }),
  );
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => new Promise((done) => server.close(done))));
  return ports;
}

export function request(options: http.RequestOptions, body?: string | Buffer): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const sent = http.request({ agent: false, ...options }, (answer) => {
      const parts: Buffer[] = [];
      answer.on("data", (part: Buffer) => parts.push(part));
      answer.on("end", () =>
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: Buffer.concat(parts).toString("latin1") }),
      );
      answer.on("error", reject);
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

/** Key and self-signed certificate for the names, in PEM. */
export function makeCertificate(
  dir: string,
  name: string,
  kind: "rsa" | "ec" = "ec",
): { cert: string; key: string; certFile: string; keyFile: string } {
  const base = join(dir, `${name.replace("*", "star")}-${kind}`);
  const keyArgs = kind === "ec" ? ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"] : ["-newkey", "rsa:2048"];
  const files = ["-keyout", `${base}.key`, "-out", `${base}.crt`];
  execFileSync(
    "openssl",
    ["req", "-x509", ...keyArgs, "-nodes", "-days", "30", "-subj", `/CN=${name}`, "-addext", `subjectAltName=DNS:${name}`, ...files],
    {
      stdio: "pipe",
    },
  );
  return {
    cert: readFileSync(`${base}.crt`, "utf8"),
    key: readFileSync(`${base}.key`, "utf8"),
    certFile: `${base}.crt`,
    keyFile: `${base}.key`,
  };
}

/** Ended with this process at the latest. */
const running = new Set<ChildProcess>();
process.once("exit", () => {
  for (const child of running) child.kill("SIGTERM");
});

export class DataPlane {
  readonly dir: string;
  readonly ports: { http: number; https: number; status: number; defaultServer: number };
  readonly view: ConfView;
  hash = "";
  private readonly child: ChildProcess;
  private version = 0;

  private constructor(dir: string, ports: DataPlane["ports"], view: ConfView, hash: string, child: ChildProcess) {
    this.dir = dir;
    this.ports = ports;
    this.view = view;
    this.hash = hash;
    this.child = child;
  }

  /** Starts nginx and waits until it answers. */
  static async start(change: (view: ConfView) => ConfView = (view) => view): Promise<DataPlane> {
    const dir = mkdtempSync(join(tmpdir(), "sluice-dp-"));
    mkdirSync(join(dir, "temp"));
    const [a, b, c, d] = await freePorts(4);
    const ports = { http: a!, https: b!, status: c!, defaultServer: d! };
    const { certFile, keyFile } = makeCertificate(dir, "default.test");
    const modules = moduleFiles("ndk_http_module", "ngx_http_lua_module", "ngx_http_headers_more_filter_module");
    const view = change(sampleConfView({ runtimeDir: dir, ports, modules, certificate: { cert: certFile, key: keyFile } }));
    const { text, hash } = renderConf(view, projectFiles.templateDir);
    const file = join(dir, "nginx.conf");
    writeFileSync(file, text);
    const child = spawn("nginx", ["-p", dir, "-c", file, "-e", join(dir, "error.log")], { stdio: ["ignore", "inherit", "inherit"] });
    running.add(child);
    const plane = new DataPlane(dir, ports, view, hash, child);
    await plane.untilAnswering();
    return plane;
  }

  /** Writes another nginx.conf and reloads; resolves when new workers run it and no former one accepts connections. */
  async reload(change: (view: ConfView) => ConfView): Promise<void> {
    const { text, hash } = renderConf(change(this.view), projectFiles.templateDir);
    writeFileSync(join(this.dir, "nginx.conf"), text);
    const former = workersOf(this.pid());
    this.child.kill("SIGHUP");
    const until = Date.now() + 10_000;
    while (
      !former.every(isLeaving) ||
      (JSON.parse((await this.configuration("GET", "/configuration/state")).body) as { conf: string }).conf !== hash
    ) {
      if (Date.now() > until) throw new Error(`no worker runs the new conf:\n${this.errors()}`);
      await new Promise((done) => setTimeout(done, 20));
    }
    this.hash = hash;
  }

  private async untilAnswering(): Promise<void> {
    const until = Date.now() + 10_000;
    for (;;) {
      try {
        await this.configuration("GET", "/configuration/state");
        return;
      } catch (error) {
        if (this.child.exitCode !== null || Date.now() > until) {
          throw new Error(`nginx does not answer: ${String(error)}\n${this.errors()}`);
        }
        await new Promise((done) => setTimeout(done, 20));
      }
    }
  }

  errors(): string {
    const file = join(this.dir, "error.log");
    return existsSync(file) ? readFileSync(file, "utf8") : "";
  }

  accessLog(): string {
    return readFileSync(join(this.dir, "access.log"), "utf8");
  }

  /** The line with this text, once nginx has written it: it answers first. */
  async accessLine(text: string): Promise<string> {
    for (;;) {
      const line = this.accessLog()
        .split("\n")
        .find((candidate) => candidate.includes(text));
      if (line !== undefined) return line;
      await new Promise((done) => setTimeout(done, 10));
    }
  }

  /** Resolves when the error log holds the text. */
  async errorLine(text: string): Promise<void> {
    while (!readFileSync(this.view.paths.errorLog, "utf8").includes(text)) await new Promise((done) => setTimeout(done, 10));
  }

  configuration(method: string, path: string, body?: string): Promise<Reply> {
    const headers = body === undefined ? {} : { "content-length": Buffer.byteLength(body) };
    return request({ socketPath: this.view.paths.socket, method, path, headers }, body);
  }

  /** PATCHes and expects success. */
  async apply(batch: Omit<Batch, "version">): Promise<Reply> {
    this.version += 1;
    const reply = await this.configuration("PATCH", "/configuration", JSON.stringify({ version: this.version, ...batch }));
    if (reply.status !== 200) throw new Error(`PATCH: ${reply.status} ${reply.body}`);
    return reply;
  }

  get(host: string, path: string, options: http.RequestOptions = {}, body?: string | Buffer): Promise<Reply> {
    return request({ host: "127.0.0.1", port: this.ports.http, path, ...options, headers: { host, ...(options.headers as object) } }, body);
  }

  /** Sends bytes, then `more` once something has come back; resolves at the end of the connection or when `until` was seen. */
  raw(port: number, text: string, more?: string, until?: string): Promise<string> {
    return new Promise((resolve, reject) => {
      let seen = "";
      let sent = false;
      const socket = connect(port, "127.0.0.1", () => socket.write(text));
      socket.on("data", (part) => {
        seen += part.toString("latin1");
        if (more !== undefined && !sent) {
          sent = true;
          socket.write(more);
        }
        if (until !== undefined && seen.endsWith(until)) socket.end();
      });
      socket.on("close", () => resolve(seen));
      socket.on("error", reject);
    });
  }

  pid(): number {
    return this.child.pid!;
  }

  async stop(): Promise<void> {
    if (this.child.exitCode === null) {
      const gone = new Promise((done) => this.child.once("exit", done));
      this.child.kill("SIGTERM");
      await gone;
    }
    running.delete(this.child);
    if (!process.env.KEEP) rmSync(this.dir, { recursive: true, force: true });
  }
}

/** What an upstream saw, as its own answer tells it. */
export interface Echo {
  readonly name: string;
  readonly method: string;
  readonly uri: string;
  readonly headers: Record<string, string>;
  readonly body: string;
}

export interface Upstream {
  readonly address: string;
  readonly port: string;
  close(): Promise<void>;
}

/** An HTTP server that answers with what it saw; `x-answer: {"status":…,"headers":{…}}` steers it, or only the upstream named `by`. */
export async function startUpstream(name: string, address = "127.0.0.1"): Promise<Upstream> {
  const server = http.createServer((seen, answer) => {
    const parts: Buffer[] = [];
    seen.on("data", (part: Buffer) => parts.push(part));
    seen.on("end", () => {
      const steer = JSON.parse(String(seen.headers["x-answer"] ?? "{}")) as {
        by?: string;
        status?: number;
        delay?: number;
        headers?: Record<string, string>;
      };
      if (steer.by !== undefined && steer.by !== name) Object.assign(steer, { status: 200, headers: {}, delay: 0 });
      const echo = { name, method: seen.method, uri: seen.url, headers: seen.headers, body: Buffer.concat(parts).toString("latin1") };
      setTimeout(() => {
        answer.writeHead(steer.status ?? 200, { "content-type": "application/json", ...steer.headers });
        answer.end(JSON.stringify(echo));
      }, steer.delay ?? 0);
    });
  });
  server.on("upgrade", (_seen, socket) => {
    socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
    socket.pipe(socket);
  });
  await new Promise<void>((done) => server.listen(0, address, done));
  return {
    address,
    port: String((server.address() as AddressInfo).port),
    close: () => {
      server.closeAllConnections();
      return new Promise((done) => server.close(() => done()));
    },
  };
}

export function backendDocument(
  name: string,
  endpoints: readonly { address: string; port: string }[],
  over: Partial<BackendDocument> = {},
): BackendDocument {
  return {
    name,
    port: 80,
    sslPassthrough: false,
    endpoints: endpoints.map(({ address, port }) => ({ address, port })),
    sessionAffinityConfig: { name: "", mode: "", cookieSessionAffinity: { name: "" } },
    upstreamHashByConfig: {},
    noServer: false,
    trafficShapingPolicy: { weight: 0, weightTotal: 0, header: "", headerValue: "", headerPattern: "", cookie: "" },
    ...over,
  };
}

export function routeDocument(
  path: string,
  backend: string,
  features: FeatureDocuments = {},
  over: Partial<RouteDocument> = {},
): RouteDocument {
  return {
    kind: path.endsWith("/") ? "prefix" : "exact",
    path,
    backend,
    source: { namespace: "default", ingress: "web", service: backend, port: "80", path },
    features,
    ...over,
  };
}

export function hostDocument(name: string, routes: readonly RouteDocument[], over: Partial<HostDocument> = {}): HostDocument {
  return { name, routes, ...over };
}

export function byName<T extends { readonly name: string }>(...documents: readonly T[]): { readonly upsert: Record<string, T> } {
  return { upsert: Object.fromEntries(documents.map((document) => [document.name, document])) };
}

export const generalDocument: GeneralDocument = {
  useForwardedHeaders: false,
  useProxyProtocol: false,
  httpRedirectCode: 308,
  httpsPort: 443,
  healthPath: "/healthz",
  tries: 3,
  logVariables: [],
  statusAllow: ["127.0.0.1"],
  hostPatterns: [],
};
