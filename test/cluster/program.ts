/** The control plane's program: where it is kept, and how it is built. */

import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync } from "node:fs";
import { homedir } from "node:os";
import { resolve } from "node:path";

const source = resolve(process.env.SLUICE_ROOT!, "test/cluster/go");
const files = ["go.mod", "go.sum", "main.go"];

function keptAt(): string {
  const hash = createHash("sha256");
  for (const file of files) hash.update(readFileSync(resolve(source, file)));
  return resolve(homedir(), ".cache/sluice", `kube-${hash.digest("hex").slice(0, 16)}`, "kube");
}

function release(): string {
  return /k8s\.io\/kubernetes (v[0-9.]+)/.exec(readFileSync(resolve(source, "go.mod"), "utf8"))![1]!;
}

/** Why the suite cannot run on this machine; undefined when it can. */
export function obstacle(): string | undefined {
  if (process.getuid?.() !== 0) return "it needs root to make a network namespace";
  for (const tool of ["unshare", "ip", "kubectl"]) {
    if (spawnSync("which", [tool]).status !== 0) return `there is no ${tool}`;
  }
  if (spawnSync("unshare", ["--net", "--mount", "true"]).status !== 0) return "it needs the right to make namespaces";
  if (existsSync(keptAt())) return undefined;
  const go = spawnSync("go", ["version"], { encoding: "utf8" });
  if (go.status !== 0) return "there is no Go toolchain to build kube-apiserver with";
  const [, minor] = /go1\.(\d+)/.exec(go.stdout) ?? [];
  return Number(minor) < 26 ? `Go 1.26 is needed, this is ${go.stdout.trim()}` : undefined;
}

/** The modules are neither here nor to be had: no fault of the project. */
export class NoModules extends Error {}

/** Path of the program. Built on first use, at low priority; rejects with NoModules, or when it does not compile. */
export async function kubeProgram(): Promise<string> {
  const kept = keptAt();
  if (existsSync(kept)) return kept;
  mkdirSync(resolve(kept, ".."), { recursive: true });
  console.log(`building Kubernetes ${release()} (once, some minutes)`);
  const env = { ...process.env, GOFLAGS: "-buildvcs=false" };
  const download = spawnSync("go", ["mod", "download"], { cwd: source, encoding: "utf8", env });
  if (download.status !== 0) throw new NoModules(`its Go modules cannot be fetched: ${download.stderr.trim().split("\n").at(-1)}`);
  const [, major, minor] = /^v(\d+)\.(\d+)/.exec(release())!;
  const set = (name: string, value: string) => `-X k8s.io/component-base/version.${name}=${value}`;
  const flags = ["-s", "-w", set("gitVersion", release()), set("gitMajor", major!), set("gitMinor", minor!)].join(" ");
  const args = ["-n", "19", "go", "build", "-trimpath", `-ldflags=${flags}`, "-gcflags=all=-dwarf=false", "-o", `${kept}.new`, "."];
  const child = spawn("nice", args, {
    cwd: source,
    stdio: ["ignore", "inherit", "inherit"],
    env,
  });
  const code = await new Promise((done) => child.once("exit", done));
  if (code !== 0) throw new Error(`the Go build ended with ${code}`);
  renameSync(`${kept}.new`, kept);
  return kept;
}
