/** A cluster with a node, and controllers as pods in it. One a test file. */

import { execFile } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { KubeConfig } from "@kubernetes/client-node";
import { apiPort, ControlPlane, eventually, kubeConfig } from "./control-plane.ts";
import { NodeStandIn } from "./node.ts";
import type { Images } from "./pod-process.ts";

const root = process.env.SLUICE_ROOT!;

/** The programs of the container image, where the image has them. */
const programs = ["nginx-ingress-controller", "dbg", "wait-shutdown", "kube-webhook-certgen"];
const inImage = {
  kind: "container",
  folders: { "/usr/lib/sluice": resolve(root, "dist") },
  links: {
    ...Object.fromEntries(programs.map((name) => [`/${name}`, `/usr/lib/sluice/${name}.mjs`])),
    "/var/log/nginx/access.log": "/dev/stdout",
    "/var/log/nginx/error.log": "/dev/stderr",
  },
  owned: ["/var/log/nginx", "/etc/ingress-controller"],
  user: 101,
  group: 82,
} as const;

const images: Images = {
  echo: { kind: "process", command: [process.execPath, resolve(root, "test/cluster/images/echo.mjs")] },
  sluice: { kind: "process", command: [process.execPath, resolve(root, "dist/nginx-ingress-controller.mjs")] },
  "sluice:image": { ...inImage, command: [] },
  "sluice:certgen": { ...inImage, command: ["/kube-webhook-certgen"] },
};

export interface Spoken {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export interface ControllerPod {
  readonly name: string;
  readonly httpPort: number;
  readonly healthzPort: number;
}

export class World {
  readonly folder = mkdtempSync(join(tmpdir(), "sluice-cluster-"));
  readonly plane = new ControlPlane(process.env.SLUICE_KUBE!, join(this.folder, "plane"));
  #node: NodeStandIn | undefined;

  async start(): Promise<void> {
    // nginx's workers are another user.
    chmodSync(this.folder, 0o755);
    await this.plane.start();
    await this.mustKubectl(["apply", "-f", resolve(root, "test/cluster/manifests/rbac.yaml")]);
    for (const namespace of ["default", "ingress-nginx"]) {
      await eventually(
        `the namespace ${namespace} has its service account`,
        async () => (await this.kubectl(["-n", namespace, "get", "serviceaccount", "default"])).code === 0,
      );
    }
    const token = await this.mustKubectl(["-n", "ingress-nginx", "create", "token", "ingress-nginx"]);
    writeFileSync(this.#controllerConfig, kubeConfig(token.trim()));
    const config = new KubeConfig();
    config.loadFromFile(this.plane.adminConfig);
    this.#node = new NodeStandIn({
      config,
      images,
      logs: join(this.folder, "logs"),
      folder: join(this.folder, "pods"),
      authority: this.plane.authority,
      apiPort,
    });
    await this.#node.start();
  }

  get node(): NodeStandIn {
    return this.#node!;
  }

  get #controllerConfig(): string {
    return join(this.folder, "controller.yaml");
  }

  /** With KEEP=1 in the environment the logs stay. */
  async stop(): Promise<void> {
    await this.#node?.stop();
    await this.plane.stop();
    this.#endNginx();
    if (process.env.KEEP === "1") console.log(`kept: ${this.folder}`);
    else rmSync(this.folder, { recursive: true, force: true });
  }

  /** An nginx outlives the controller that was killed. */
  #endNginx(): void {
    for (const name of readdirSync(this.folder)) {
      const file = join(this.folder, name, "nginx.pid");
      if (existsSync(file)) process.kill(Number(readFileSync(file, "utf8")), "SIGTERM");
    }
  }

  kubectl(args: readonly string[], input?: object | string, env: Readonly<Record<string, string>> = {}): Promise<Spoken> {
    const options = { maxBuffer: 1 << 26, env: { ...process.env, ...env } };
    return new Promise((done) => {
      const child = execFile("kubectl", [`--kubeconfig=${this.plane.adminConfig}`, ...args], options, (error, out, err) => {
        done({ code: error === null ? 0 : Number(error.code ?? 1), out, err });
      });
      child.stdin?.end(input === undefined ? undefined : typeof input === "string" ? input : JSON.stringify(input));
    });
  }

  async mustKubectl(args: readonly string[], input?: object | string, env: Readonly<Record<string, string>> = {}): Promise<string> {
    const { code, out, err } = await this.kubectl(args, input, env);
    if (code !== 0) throw new Error(`kubectl ${args.join(" ")}: ${err}`);
    return out;
  }

  apply(...objects: readonly object[]): Promise<Spoken> {
    return this.kubectl(["apply", "-f", "-"], { apiVersion: "v1", kind: "List", items: objects });
  }

  async mustApply(...objects: readonly object[]): Promise<void> {
    const { code, err } = await this.apply(...objects);
    if (code !== 0) throw new Error(err);
  }

  async get<T>(kind: string, namespace: string, name = ""): Promise<T> {
    return JSON.parse(await this.mustKubectl(["-n", namespace, "get", kind, ...(name === "" ? [] : [name]), "-o", "json"])) as T;
  }

  /** A replica with ports of its own: all replicas share the machine. Resolves when it is healthy. */
  async startController(index: number, flags: readonly string[]): Promise<ControllerPod> {
    const base = 8000 + index * 100;
    const pod: ControllerPod = { name: `sluice-${index}`, httpPort: base, healthzPort: base + 4 };
    const { name } = pod;
    const args = [
      `--kubeconfig=${this.#controllerConfig}`,
      `--runtime-dir=${join(this.folder, name)}`,
      `--log-dir=${join(this.folder, "logs", name)}`,
      `--http-port=${base}`,
      `--https-port=${base + 1}`,
      `--default-server-port=${base + 2}`,
      `--status-port=${base + 3}`,
      `--healthz-port=${base + 4}`,
      `--stream-port=${base + 5}`,
      `--profiler-port=${base + 7}`,
      "--configmap=ingress-nginx/ingress-nginx-controller",
      "--post-shutdown-grace-period=0",
      "--election-ttl=4s",
      ...flags,
    ];
    const container = { name: "controller", image: "sluice", args };
    await this.mustApply({
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name, namespace: "ingress-nginx", labels: { app: "sluice" } },
      spec: { containers: [container], terminationGracePeriodSeconds: 60 },
    });
    await eventually(`${name} is healthy`, async () => {
      const { ok } = await fetch(`http://127.0.0.1:${pod.healthzPort}/healthz`);
      return ok;
    }).catch((error: Error) => {
      throw new Error(`${error.message}\n${this.logOf(name).slice(-4000)}`);
    });
    return pod;
  }

  /** Resolves when the Deployment's rollout is over. */
  async rolledOut(name: string): Promise<void> {
    await eventually(`the rollout of ${name} is over`, async () =>
      (await this.kubectl(["rollout", "status", `deployment/${name}`, "--watch=false"])).out.includes("successfully"),
    );
  }

  logOf(pod: string): string {
    return this.logsOf((file) => file.endsWith(`-${pod}.log`));
  }

  /** What the pods have said whose files (NAMESPACE-POD.log) are wanted. */
  logsOf(wanted: (file: string) => boolean): string {
    const logs = join(this.folder, "logs");
    const files = readdirSync(logs).filter((file) => file.endsWith(".log") && wanted(file));
    return files.map((file) => readFileSync(join(logs, file), "utf8")).join("");
  }

  /** Waits for the pod to be gone. */
  async stopController(name: string): Promise<void> {
    await this.mustKubectl(["-n", "ingress-nginx", "delete", "pod", name, "--wait=true", "--timeout=60s"]);
  }
}

export function ingress(
  name: string,
  host: string,
  service: string,
  more: { annotations?: object; path?: string; class?: string } = {},
): object {
  const { annotations = {}, path = "/" } = more;
  const backend = { service: { name: service, port: { number: 80 } } };
  return {
    apiVersion: "networking.k8s.io/v1",
    kind: "Ingress",
    metadata: { name, namespace: "default", annotations },
    spec: { ingressClassName: more.class ?? "nginx", rules: [{ host, http: { paths: [{ path, pathType: "Prefix", backend }] } }] },
  };
}

export interface DeploymentOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** How many more, and how many fewer than wanted a rollout may have; default 2 and 0. */
  readonly surge?: readonly [number | string, number | string];
}

/** And its Service. */
export function deployment(name: string, replicas: number, version: string, options: DeploymentOptions = {}): object[] {
  const env = Object.entries({ VERSION: version, ...options.env }).map(([key, value]) => ({ name: key, value }));
  const container = { name: "echo", image: "echo", env, ports: [{ containerPort: 8080 }] };
  const labels = { app: name };
  const [maxSurge, maxUnavailable] = options.surge ?? [2, 0];
  return [
    {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name, namespace: "default" },
      spec: {
        replicas,
        selector: { matchLabels: labels },
        strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge, maxUnavailable } },
        template: { metadata: { labels }, spec: { containers: [container], terminationGracePeriodSeconds: 10 } },
      },
    },
    {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name, namespace: "default" },
      spec: { selector: labels, ports: [{ port: 80, targetPort: 8080 }] },
    },
  ];
}
