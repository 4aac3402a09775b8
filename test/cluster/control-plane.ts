/** etcd, kube-apiserver and kube-controller-manager as local processes. */

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

export const apiPort = 6443;
const apiUrl = `https://127.0.0.1:${apiPort}`;
const etcdUrl = "http://127.0.0.1:2379";
const patienceMs = 60_000;

const controllers = [
  "endpointslice-controller",
  "namespace-controller",
  "garbage-collector-controller",
  "deployment-controller",
  "replicaset-controller",
  "serviceaccount-controller",
  "job-controller",
];

export class ControlPlane {
  readonly #folder: string;
  readonly #program: string;
  readonly #serviceRange: string;
  readonly #running = new Map<string, ChildProcess>();

  constructor(program: string, folder: string, serviceRange = "10.96.0.0/16") {
    this.#serviceRange = serviceRange;
    this.#program = program;
    this.#folder = folder;
    mkdirSync(folder, { recursive: true });
  }

  /** Everybody's right. */
  get adminConfig(): string {
    return join(this.#folder, "admin.yaml");
  }

  /** The certificate that the API server is to be trusted by. */
  get authority(): string {
    return readFileSync(join(this.#folder, "certs/apiserver.crt"), "utf8");
  }

  async start(): Promise<void> {
    await this.startStore();
    const key = `--service-account-private-key-file=${join(this.#folder, "sa.key")}`;
    const config = `--kubeconfig=${this.adminConfig}`;
    this.#run("kube-controller-manager", [
      config,
      key,
      "--leader-elect=false",
      "--secure-port=0",
      `--controllers=${controllers.join(",")}`,
    ]);
  }

  /** etcd and the API server alone: objects stay as they are written. */
  async startStore(): Promise<void> {
    execFileSync("openssl", ["genrsa", "-out", join(this.#folder, "sa.key"), "2048"], { stdio: "ignore" });
    writeFileSync(join(this.#folder, "tokens.csv"), 'admin-token,admin,admin,"system:masters"\n');
    writeFileSync(this.adminConfig, kubeConfig("admin-token"));
    this.#run("etcd", [
      `--data-dir=${join(this.#folder, "etcd")}`,
      `--listen-client-urls=${etcdUrl}`,
      `--advertise-client-urls=${etcdUrl}`,
      "--listen-peer-urls=http://127.0.0.1:2380",
      "--log-level=error",
      "--unsafe-no-fsync",
    ]);
    await this.startApi();
  }

  async startApi(): Promise<void> {
    const key = join(this.#folder, "sa.key");
    this.#run("kube-apiserver", [
      `--etcd-servers=${etcdUrl}`,
      `--cert-dir=${join(this.#folder, "certs")}`,
      `--secure-port=${apiPort}`,
      "--bind-address=127.0.0.1",
      "--advertise-address=10.96.0.1",
      "--endpoint-reconciler-type=none",
      `--service-cluster-ip-range=${this.#serviceRange}`,
      "--service-account-issuer=https://kubernetes.default.svc",
      `--service-account-key-file=${key}`,
      `--service-account-signing-key-file=${key}`,
      "--authorization-mode=RBAC",
      `--token-auth-file=${join(this.#folder, "tokens.csv")}`,
      // Webhooks of Services are reached at their endpoints: nothing here turns a Service's address into one of them.
      "--enable-aggregator-routing=true",
      // Stopping must not take as long as it does where load balancers have to notice.
      "--shutdown-delay-duration=0s",
    ]);
    await eventually("the API server is ready", async () => {
      execFileSync("kubectl", [`--kubeconfig=${this.adminConfig}`, "get", "--raw", "/readyz"], { stdio: "ignore" });
      return true;
    });
  }

  /** At once, as when its machine is lost. */
  async killApi(): Promise<void> {
    await this.#end("kube-apiserver", "SIGKILL");
  }

  /** Forgets the history before now: a watch that wants to go on from there expires. */
  async compact(): Promise<void> {
    const { header } = (await this.#etcd("kv/range", { key: "AA==" })) as { readonly header: { readonly revision: string } };
    await this.#etcd("kv/compaction", { revision: header.revision, physical: true });
  }

  async #etcd(path: string, body: object): Promise<unknown> {
    const response = await fetch(`${etcdUrl}/v3/${path}`, { method: "POST", body: JSON.stringify(body) });
    if (!response.ok) throw new Error(`etcd ${path}: ${response.status} ${await response.text()}`);
    return response.json();
  }

  async stop(): Promise<void> {
    for (const name of [...this.#running.keys()].reverse()) await this.#end(name, "SIGKILL");
  }

  #run(name: string, args: readonly string[]): void {
    const log = openSync(join(this.#folder, `${name}.log`), "a");
    this.#running.set(name, spawn(this.#program, [name, ...args], { stdio: ["ignore", log, log] }));
    closeSync(log);
  }

  async #end(name: string, signal: NodeJS.Signals): Promise<void> {
    const child = this.#running.get(name);
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise((done) => child.once("exit", done));
    child.kill(signal);
    await gone;
    this.#running.delete(name);
  }
}

export function kubeConfig(token: string): string {
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "test", cluster: { server: apiUrl, "insecure-skip-tls-verify": true } }],
    users: [{ name: "user", user: { token } }],
    contexts: [{ name: "test", context: { cluster: "test", user: "user" } }],
    "current-context": "test",
  });
}

/** Asks again until it is true; what it throws counts as false and is told in the end. */
export async function eventually(what: string, check: () => boolean | Promise<boolean>, ms = patienceMs): Promise<void> {
  const until = Date.now() + ms;
  let problem = "";
  for (;;) {
    try {
      if (await check()) return;
      problem = "";
    } catch (error) {
      problem = `: ${(error as Error).message}`;
    }
    if (Date.now() > until) throw new Error(`it did not come true that ${what}${problem}`);
    await pause(50);
  }
}
