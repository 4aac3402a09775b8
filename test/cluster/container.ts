/** A container without an engine: a root of its own laid over the machine's, processes of its own, a user without rights. */

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface ContainerSpec {
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Descriptor of what it prints to; the user may open it again. */
  readonly output: number;
  /** An empty folder, which only the container sees filled. */
  readonly folder: string;
  /** Path inside → folder of the machine; undefined: an empty one that all may write to. */
  readonly mounts: ReadonlyMap<string, string | undefined>;
  /** Path inside → what it leads to. */
  readonly links: ReadonlyMap<string, string>;
  /** Folders inside that belong to the user. */
  readonly owned: readonly string[];
  readonly user: number;
  readonly group: number;
  readonly capabilities: readonly string[];
  readonly noNewPrivileges: boolean;
  readonly readOnly: boolean;
}

export interface Container {
  readonly child: ChildProcess;
  /** Signals its first process. */
  signal(name: NodeJS.Signals): void;
  /** A further process inside. */
  exec(command: readonly string[]): ChildProcess;
}

/** What an init does: hands SIGTERM on, buries orphans, ends as its child does. */
const init = `"$@" & child=$!
trap 'kill -TERM "$child"' TERM
while :; do wait "$child"; kill -0 "$child" 2>/dev/null || break; done
wait "$child"`;

/** Why there cannot be containers here; undefined when there can. */
export function containerObstacle(): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), "sluice-container-"));
  const spec = { folder, mounts: new Map(), links: new Map(), owned: [], user: 101, group: 82, capabilities: [], noNewPrivileges: true };
  const tried = [...isolated, "sh", "-c", setUp({ ...spec, readOnly: true }), "sh", ...asUser(spec), "true"];
  const { status, stderr, error } = spawnSync("unshare", tried, { encoding: "utf8" });
  rmSync(folder, { recursive: true });
  return status === 0 ? undefined : `containers cannot be made: ${error?.message ?? stderr.trim().split("\n")[0]}`;
}

const isolated = ["--mount", "--pid", "--fork", "--kill-child", "--propagation=private"];

type Shape = Omit<ContainerSpec, "command" | "env" | "output">;

function setUp(spec: Shape): string {
  const at = `${spec.folder}/root`;
  const mounts = [...spec.mounts].map(([inside, from]) => {
    // Resolved inside: /var/run leads to /run, which must not be the machine's.
    const to = `"${at}$(chroot ${at} readlink -f ${quoted(inside)})"`;
    const mount = from === undefined ? "mount -t tmpfs -o mode=1777 tmpfs" : `mount --bind ${quoted(from)}`;
    return `chroot ${at} mkdir -p ${quoted(inside)}; ${mount} ${to}`;
  });
  return [
    "set -e",
    `mount -t tmpfs tmpfs ${spec.folder}`,
    `mkdir ${spec.folder}/upper ${spec.folder}/work ${at}`,
    `mount -t overlay overlay -o lowerdir=/,upperdir=${spec.folder}/upper,workdir=${spec.folder}/work ${at}`,
    `mount -t proc proc ${at}/proc`,
    `mount --rbind /dev ${at}/dev`,
    `mount -t tmpfs -o mode=1777 tmpfs ${at}/tmp`,
    ...mounts,
    ...[...spec.links].map(([inside, target]) => `ln -sfn ${quoted(target)} ${quoted(at + inside)}`),
    ...spec.owned.map((path) => `mkdir -p ${at}${path}; chown ${spec.user}:${spec.group} ${at}${path}`),
    ...(spec.readOnly ? [`mount -o remount,ro ${at}`] : []),
    `exec chroot ${at} "$@"`,
  ].join("\n");
}

function asUser({ user, group, capabilities, noNewPrivileges }: Omit<Shape, "readOnly">): string[] {
  const bounds = ["-all", ...capabilities.map((name) => `+${name.toLowerCase()}`)].join();
  const rights = [`--reuid=${user}`, `--regid=${group}`, "--clear-groups", `--bounding-set=${bounds}`, "--inh-caps=-all"];
  return ["setpriv", ...rights, ...(noNewPrivileges ? ["--no-new-privs"] : [])];
}

export function startContainer(spec: ContainerSpec): Container {
  const inside = [...asUser(spec), "bash", "-c", init, "init", ...spec.command];
  const env = { PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", ...spec.env };
  const child = spawn("unshare", [...isolated, "sh", "-c", setUp(spec), "sh", ...inside], {
    stdio: ["ignore", spec.output, spec.output],
    env,
  });
  return {
    child,
    signal: (name) => {
      const first = firstProcess(child);
      if (first !== undefined) process.kill(first, name);
    },
    exec: (command) => {
      const entered = ["--mount", "--pid", "--root", "--wdns=/", `--target=${firstProcess(child) ?? 0}`];
      return spawn("nsenter", [...entered, ...asUser(spec), ...command], { stdio: ["pipe", "pipe", "pipe"], env });
    },
  };
}

/** The only child of unshare; undefined when it has ended. */
function firstProcess({ pid }: ChildProcess): number | undefined {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "latin1").trim();
    return children === "" ? undefined : Number(children);
  } catch {
    return undefined;
  }
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
