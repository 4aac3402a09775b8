/** The demo of npm start: pods and certificate for examples/, the controller on that folder, and lines to try. */

import { type ChildProcess, execFileSync } from "node:child_process";
import { createWriteStream, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { parseAllDocuments } from "yaml";
import { controllerPorts, end, type Pod, type Ports, spawnController, spawnPods } from "./processes.ts";

const root = process.env.SLUICE_ROOT!;
const examples = resolve(root, "examples");
const generated = resolve(examples, "generated");
const secureHost = "secure.localhost";
const certificateFile = resolve(generated, "secure-localhost.crt");

interface SliceManifest {
  readonly kind: string;
  readonly metadata: { readonly labels?: Readonly<Record<string, string>> };
  readonly ports: readonly { readonly port: number }[];
  readonly endpoints: readonly { readonly addresses: readonly string[]; readonly targetRef?: { readonly name: string } }[];
}

/** The pods that the manifests speak of, each once; the first slice that names a pod says to which app it belongs. */
function podsOfExamples(): readonly Pod[] {
  const pods = new Map<string, Pod>();
  const files = readdirSync(examples).filter((name) => name.endsWith(".yaml"));
  for (const file of files.sort()) {
    for (const document of parseAllDocuments(readFileSync(resolve(examples, file), "utf8"))) {
      const object = document.toJS() as SliceManifest | null;
      if (object?.kind !== "EndpointSlice") continue;
      const app = object.metadata.labels?.["kubernetes.io/service-name"] ?? "";
      for (const endpoint of object.endpoints) {
        const address = endpoint.addresses[0]!;
        const pod = { app, name: endpoint.targetRef?.name ?? address, address, port: object.ports[0]!.port };
        const key = `${address}:${pod.port}`;
        if (!pods.has(key)) pods.set(key, pod);
      }
    }
  }
  return [...pods.values()];
}

/** A new self-signed certificate at each start; no key is ever part of the repository. */
function writeCertificate(): void {
  mkdirSync(generated, { recursive: true });
  const key = resolve(generated, ".key.pem");
  const subject = ["-subj", `/CN=${secureHost}`, "-addext", `subjectAltName=DNS:${secureHost}`];
  const kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "30"];
  execFileSync("openssl", ["req", "-x509", ...kind, ...subject, "-keyout", key, "-out", certificateFile], { stdio: "pipe" });
  const secret = {
    apiVersion: "v1",
    kind: "Secret",
    type: "kubernetes.io/tls",
    metadata: { name: "secure-localhost", namespace: "demo" },
    data: { "tls.crt": readFileSync(certificateFile).toString("base64"), "tls.key": readFileSync(key).toString("base64") },
  };
  rmSync(key);
  const file = resolve(generated, "secure-localhost.json");
  writeFileSync(`${generated}/.secret`, JSON.stringify(secret, null, 2), { mode: 0o600 });
  renameSync(`${generated}/.secret`, file);
}

function givenPorts(): Partial<Ports> {
  const number = { type: "string" } as const;
  const { values } = parseArgs({ options: { "http-port": number, "https-port": number, "healthz-port": number } });
  return {
    http: Number(values["http-port"] ?? 8080),
    https: Number(values["https-port"] ?? 8443),
    healthz: Number(values["healthz-port"] ?? 10254),
  };
}

/** Resolves with true when the first example is served, with false when the controller has ended before. */
async function served(controller: ChildProcess, ports: Ports): Promise<boolean> {
  while (controller.exitCode === null && controller.signalCode === null) {
    const answer = await fetch(`http://127.0.0.1:${ports.healthz}/healthz`).catch(() => undefined);
    await answer?.arrayBuffer();
    if (answer?.ok === true) {
      const state = (await (await fetch(`http://127.0.0.1:${ports.healthz}/state`)).json()) as { synced: boolean };
      if (state.synced) return true;
    }
    await new Promise((done) => setTimeout(done, 100));
  }
  return false;
}

function linesToTry(ports: Ports, runtimeDir: string): string {
  const http = `localhost:${ports.http}`;
  const https = `${secureHost}:${ports.https}`;
  const certificate = certificateFile.startsWith(`${process.cwd()}/`) ? certificateFile.slice(process.cwd().length + 1) : certificateFile;
  return `
Sluice serves examples/ on ports ${ports.http} (http) and ${ports.https} (https). Try:

  curl -s http://a.${http}/hello
  curl -s http://b.${http}/a/hello
  curl -s --cacert ${certificate} https://${https}/
  for i in $(seq 20); do curl -s http://canary.${http}/ | head -1; done | sort | uniq -c
  curl -si http://${secureHost}:${ports.http}/ | grep -iE "^(http|location)"

Edit a file in examples/ and ask again: it is served at once.

  what is wrong with the manifests   curl -s http://127.0.0.1:${ports.healthz}/findings
  versions, reloads and their causes curl -s http://127.0.0.1:${ports.healthz}/state
  metrics                            curl -s http://127.0.0.1:${ports.healthz}/metrics
  why a URL goes where               node dist/dbg.mjs match http://canary.localhost/ --runtime-dir=${runtimeDir}
  nginx.conf, logs                   ${runtimeDir}

Ctrl-C ends it.
`;
}

/** What was started, and its orderly end: the first call counts, the process ends with it. */
class Started {
  readonly work: string = mkdtempSync(resolve(tmpdir(), "sluice-demo-"));
  private readonly children: ChildProcess[] = [];
  private ending = false;

  get isEnding(): boolean {
    return this.ending;
  }

  add(child: ChildProcess): ChildProcess {
    this.children.push(child);
    return child;
  }

  async end(code: number): Promise<void> {
    if (this.ending) return;
    this.ending = true;
    await Promise.all(this.children.map((child) => end(child)));
    rmSync(this.work, { recursive: true, force: true });
    rmSync(generated, { recursive: true, force: true });
    process.exit(code);
  }
}

/** Its log goes to a file; warnings and errors to the console as well, and the last lines should it end by itself. */
function startController(started: Started, ports: Ports): ChildProcess {
  const log = createWriteStream(resolve(started.work, "controller.log"));
  const recent: string[] = [];
  const onLine = (line: string): void => {
    log.write(`${line}\n`);
    recent.push(line);
    if (recent.length > 40) recent.shift();
    if (/^[WEF]\d/.test(line) && !line.includes("has no effect yet")) process.stdout.write(`${line}\n`);
  };
  const run = { manifests: examples, runtimeDir: started.work, logDir: started.work, ports, configmap: "demo/sluice" };
  const controller = started.add(spawnController(run, onLine));
  controller.once("close", (code, signal) => {
    if (started.isEnding) return;
    process.stderr.write(`${recent.join("\n")}\n  the controller ended (${signal ?? code})\n`);
    void started.end(1);
  });
  return controller;
}

async function main(): Promise<void> {
  const started = new Started();
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.on(signal, () => {
      if (!started.isEnding) process.stdout.write("\nstopping …\n");
      void started.end(0);
    });
  }
  try {
    writeCertificate();
    const pods = podsOfExamples();
    started.add(await spawnPods(pods));
    console.log(`  ${pods.length} demo pods: running`);
    const ports = await controllerPorts(givenPorts());
    console.log("  controller: starting …");
    const controller = startController(started, ports);
    if (await served(controller, ports)) process.stdout.write(linesToTry(ports, started.work));
  } catch (error) {
    if (started.isEnding) return;
    console.error(`  could not: ${(error as Error).message}`);
    await started.end(1);
  }
}

await main();
