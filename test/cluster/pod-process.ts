/** A pod's specification → its one container as local processes. */

import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, fchmodSync, mkdirSync, mkdtempSync, openSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ApiServer } from "../../control/source/api-server.ts";
import { type Container, type ContainerSpec, startContainer } from "./container.ts";

interface EnvEntry {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: { readonly fieldRef?: { readonly fieldPath: string } };
}

interface Volume {
  readonly name: string;
  readonly secret?: { readonly secretName: string };
  readonly emptyDir?: object;
  readonly projected?: object;
}

export interface RawContainer {
  readonly name: string;
  readonly image: string;
  readonly args?: readonly string[];
  readonly env?: readonly EnvEntry[];
  readonly ports?: readonly { readonly containerPort: number }[];
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string }[];
  readonly readinessProbe?: { readonly httpGet?: { readonly path: string; readonly port: number } };
  readonly lifecycle?: { readonly preStop?: { readonly exec?: { readonly command: readonly string[] } } };
  readonly securityContext?: {
    readonly runAsUser?: number;
    readonly runAsGroup?: number;
    readonly allowPrivilegeEscalation?: boolean;
    readonly readOnlyRootFilesystem?: boolean;
    readonly capabilities?: { readonly add?: readonly string[] };
  };
}

export interface RawPod {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly deletionTimestamp?: string;
    readonly deletionGracePeriodSeconds?: number;
  };
  readonly spec: {
    readonly nodeName?: string;
    readonly serviceAccountName?: string;
    readonly containers: readonly RawContainer[];
    readonly volumes?: readonly Volume[];
  };
}

export type Image =
  /** Runs among the machine's processes, as root. */
  | { readonly kind: "process"; readonly command: readonly string[] }
  /** Runs in a root of its own. */
  | {
      readonly kind: "container";
      /** Before the arguments. */
      readonly command: readonly string[];
      readonly folders: Readonly<Record<string, string>>;
      readonly links: Readonly<Record<string, string>>;
      readonly owned: readonly string[];
      readonly user: number;
      readonly group: number;
    };

/** By name. */
export type Images = Readonly<Record<string, Image>>;

export interface PodProcess {
  readonly ip: string;
  readonly child: ChildProcess;
  /** File of all that it has printed. */
  readonly log: string;
  ended: boolean;
  signal(name: NodeJS.Signals): void;
  exec(command: readonly string[]): ChildProcess;
}

export interface PodPlace {
  readonly api: ApiServer;
  /** The CA of the API server and where it listens. */
  readonly authority: string;
  readonly apiPort: number;
  readonly images: Images;
  /** Of the logs. */
  readonly logs: string;
  /** For what is mounted. */
  readonly folder: string;
}

export async function startPodProcess(pod: RawPod, ip: string, place: PodPlace): Promise<PodProcess> {
  const container = pod.spec.containers[0]!;
  const image = place.images[container.image];
  if (image === undefined) throw new Error(`there is no image ${container.image}`);
  const env = environment(pod, ip, place);
  const args = (container.args ?? []).map((arg) => arg.replace(/\$\((\w+)\)/g, (all, name: string) => env[name] ?? all));
  const command = [...image.command, ...args];
  const log = join(place.logs, `${pod.metadata.namespace}-${pod.metadata.name}.log`);
  const output = openSync(log, "a");
  // Programs open /dev/stdout anew, as another user.
  fchmodSync(output, 0o666);
  const start = { command, env, output };
  const running = image.kind === "process" ? startPlain(start) : await startRooted(start, pod, image, place);
  closeSync(output);
  const process: PodProcess = { ...running, ip, log, ended: false };
  running.child.once("exit", () => {
    process.ended = true;
  });
  return process;
}

function environment({ metadata, spec }: RawPod, ip: string, place: PodPlace): Record<string, string> {
  const fields: Readonly<Record<string, string>> = {
    "metadata.name": metadata.name,
    "metadata.namespace": metadata.namespace,
    "status.podIP": ip,
  };
  const set = (spec.containers[0]!.env ?? []).map((each) => {
    const path = each.valueFrom?.fieldRef?.fieldPath;
    return [each.name, path === undefined ? (each.value ?? "") : (fields[path] ?? "")] as const;
  });
  const own = { POD_NAME: metadata.name, POD_NAMESPACE: metadata.namespace, POD_IP: ip };
  const server = { KUBERNETES_SERVICE_HOST: "127.0.0.1", KUBERNETES_SERVICE_PORT: String(place.apiPort) };
  return { ...own, ...server, ...Object.fromEntries(set) };
}

type Start = Pick<ContainerSpec, "command" | "env" | "output">;

function startPlain({ command, env, output }: Start): Container {
  const [program, ...args] = command;
  const all = { ...process.env, ...env };
  const child = spawn(program!, args, { stdio: ["ignore", output, output], env: all });
  return {
    child,
    signal: (name) => void child.kill(name),
    exec: ([first, ...more]) => spawn(first!, more, { stdio: ["pipe", "pipe", "pipe"], env: all }),
  };
}

async function startRooted(start: Start, pod: RawPod, image: Extract<Image, { kind: "container" }>, place: PodPlace): Promise<Container> {
  const folder = mkdtempSync(join(place.folder, `${pod.metadata.name}-`));
  const mounts = new Map<string, string | undefined>(Object.entries(image.folders));
  for (const { name, mountPath } of pod.spec.containers[0]!.volumeMounts ?? []) {
    const volume = pod.spec.volumes?.find((each) => each.name === name);
    if (volume === undefined) throw new Error(`there is no volume ${name}`);
    mounts.set(mountPath.replace(/\/$/, ""), await contentOf(volume, pod, place, join(folder, name)));
  }
  const rootFolder = join(folder, "container");
  mkdirSync(rootFolder);
  const security = pod.spec.containers[0]!.securityContext ?? {};
  return startContainer({
    ...start,
    folder: rootFolder,
    mounts,
    links: new Map(Object.entries(image.links)),
    owned: image.owned,
    user: security.runAsUser ?? image.user,
    group: security.runAsGroup ?? image.group,
    capabilities: security.capabilities?.add ?? [],
    noNewPrivileges: security.allowPrivilegeEscalation === false,
    readOnly: security.readOnlyRootFilesystem === true,
  });
}

/** Its folder; undefined: an empty one. */
async function contentOf(volume: Volume, pod: RawPod, { api, authority }: PodPlace, folder: string): Promise<string | undefined> {
  const { namespace } = pod.metadata;
  if (volume.emptyDir !== undefined) return undefined;
  mkdirSync(folder);
  if (volume.secret !== undefined) {
    const path = `/api/v1/namespaces/${namespace}/secrets/${volume.secret.secretName}`;
    const { data } = (await api.get(path, {}, AbortSignal.timeout(10_000))) as { readonly data: Readonly<Record<string, string>> };
    for (const [name, text] of Object.entries(data)) writeFileSync(join(folder, name), Buffer.from(text, "base64"), { mode: 0o644 });
    return folder;
  }
  // What every pod gets: the account's token, the server's CA, the namespace.
  if (volume.projected === undefined) throw new Error(`${volume.name}: a volume of a kind that is not known here`);
  const account = `/api/v1/namespaces/${namespace}/serviceaccounts/${pod.spec.serviceAccountName ?? "default"}/token`;
  const request = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: { expirationSeconds: 3600 } };
  const { status } = (await api.send("POST", account, request)) as { readonly status: { readonly token: string } };
  writeFileSync(join(folder, "token"), status.token);
  writeFileSync(join(folder, "ca.crt"), authority);
  writeFileSync(join(folder, "namespace"), namespace);
  return folder;
}
