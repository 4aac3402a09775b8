/** Builds the Dockerfile without a Docker engine: buildah on a base made by debootstrap, both kept in ~/.cache/sluice. */

import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

export const imageName = "localhost/sluice:dev";
const baseName = "localhost/debian:trixie-slim";
const authorities = "/etc/ssl/certs/ca-certificates.crt";

/** Date of everything in the image, in seconds: equal inputs make equal layers. */
const epoch = Number(process.env.SOURCE_DATE_EPOCH ?? "0");

const root = process.env.SLUICE_ROOT!;
const work = join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "sluice/image");

/** Why this machine cannot build an image, if it cannot. */
export function imageObstacle(): string | undefined {
  if (process.getuid?.() !== 0) return "building the image needs root";
  const absent = ["buildah", "podman", "runc", "debootstrap", "ip"].find(
    (program) => spawnSync("sh", ["-c", `command -v ${program}`]).status !== 0,
  );
  if (absent !== undefined) return `building the image needs ${absent}, which is not installed`;
  const allowed = spawnSync("unshare", ["--mount", "--net", "true"]).status === 0;
  return allowed ? undefined : "building the image needs the right to make namespaces";
}

/** Environment of buildah and podman: storage of our own, and limits that need no capability. */
export function containerEnv(): NodeJS.ProcessEnv {
  mkdirSync(work, { recursive: true });
  const [storage, containers] = [join(work, "storage.conf"), join(work, "containers.conf")];
  writeFileSync(storage, `[storage]\ndriver = "overlay"\nrunroot = "${work}/run"\ngraphroot = "${work}/graph"\n`);
  const limits = 'default_ulimits = ["nofile=20000:20000", "nproc=4096:4096"]';
  writeFileSync(containers, `[containers]\n${limits}\n[engine]\nruntime = "runc"\n`);
  return { ...process.env, CONTAINERS_STORAGE_CONF: storage, CONTAINERS_CONF: containers };
}

/** Its output is shown only when it fails; then it throws. */
async function step(title: string, program: string, args: readonly string[], env = process.env): Promise<void> {
  const started = Date.now();
  const child = spawn(program, args, { cwd: root, env, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  const keep = (chunk: Buffer) => {
    output = (output + chunk.toString()).slice(-20_000);
  };
  child.stdout.on("data", keep);
  child.stderr.on("data", keep);
  const code = await new Promise<number | string>((done) => {
    child.once("error", (error) => done(error.message));
    child.once("close", (status, signal) => done(status ?? signal ?? "unknown"));
  });
  if (code !== 0) throw new Error(`${output.trimEnd()}\n${title}: failed (${code}): ${program} ${args.join(" ")}`);
  console.log(`  ${title}: done (${((Date.now() - started) / 1000).toFixed(1)} s)`);
}

/** There is no base: Debian's mirror cannot be reached, most likely. */
export class NoBase extends Error {}

/** Builds what is not there yet; bytes of the image. Throws NoBase, else an Error with the output of what failed. */
export async function buildImage(): Promise<number> {
  const env = containerEnv();
  await makeBase(env);
  const dates = [`--timestamp=${epoch}`, `--build-arg=SOURCE_DATE_EPOCH=${epoch}`];
  await bud("building the image (Dockerfile)", [`--build-arg=BASE=${baseName}`, ...dates, "-t", imageName, root]);
  const { stdout } = spawnSync("podman", ["image", "inspect", "--format", "{{.Size}}", imageName], { env, encoding: "utf8" });
  const size = Number(stdout.trim());
  console.log(`  ${imageName}: ${(size / 1e6).toFixed(0)} MB`);
  return size;
}

/** Layers that nothing has changed are taken from the last time. */
export async function bud(title: string, args: readonly string[]): Promise<void> {
  const secret = existsSync(authorities) ? [`--secret=id=ca,src=${authorities}`] : [];
  await step(title, "buildah", ["bud", "--layers", "--isolation=chroot", "--network=host", ...secret, ...args], containerEnv());
}

/** What docker.io/debian:trixie-slim is: a minimal system without documentation. */
async function makeBase(env: NodeJS.ProcessEnv): Promise<void> {
  if (spawnSync("podman", ["image", "exists", baseName], { env }).status === 0) return;
  const system = join(work, `base-${process.pid}`);
  const mirror = "http://deb.debian.org/debian";
  try {
    const args = ["--variant=minbase", "--include=ca-certificates", "trixie", system, mirror];
    await step("making a Debian 13 base (debootstrap)", "debootstrap", args).catch((error: Error) => {
      console.log(error.message);
      throw new NoBase("debootstrap could not make a Debian 13 base (its output is above)");
    });
    slim(system, mirror);
    const tar = join(work, `base-${process.pid}.tar`);
    await step("packing the base", "tar", ["-C", system, "--sort=name", "-cf", tar, "."]);
    await step("importing the base", "podman", ["import", "-q", tar, baseName], env);
    rmSync(tar);
  } finally {
    rmSync(system, { recursive: true, force: true });
  }
}

function slim(system: string, mirror: string): void {
  const write = (path: string, text: string, mode = 0o644) => writeFileSync(join(system, path), text, { mode });
  const suites = ["trixie", "trixie-updates"].map((suite) => `deb ${mirror} ${suite} main\n`);
  write("etc/apt/sources.list", `${suites.join("")}deb ${mirror}-security trixie-security main\n`);
  write("usr/sbin/policy-rc.d", "#!/bin/sh\nexit 101\n", 0o755);
  const clean = "rm -f /var/cache/apt/archives/*.deb /var/cache/apt/archives/partial/*.deb /var/cache/apt/*.bin || true";
  write(
    "etc/apt/apt.conf.d/docker-clean",
    `DPkg::Post-Invoke { "${clean}"; };\nAPT::Update::Post-Invoke { "${clean}"; };\n` +
      'Dir::Cache::pkgcache ""; Dir::Cache::srcpkgcache ""; Acquire::GzipIndexes "true"; Acquire::Languages "none";\n',
  );
  const excluded = ["doc", "man", "locale", "info", "lintian"].map((name) => `path-exclude /usr/share/${name}/*\n`);
  write("etc/dpkg/dpkg.cfg.d/docker-slim", `${excluded.join("")}path-include /usr/share/doc/*/copyright\n`);
  for (const name of [
    "var/lib/apt/lists",
    "var/cache/apt",
    "var/log",
    "usr/share/man",
    "usr/share/locale",
    "usr/share/info",
    "etc/hostname",
  ]) {
    rmSync(join(system, name), { recursive: true, force: true });
  }
  for (const name of ["var/lib/apt/lists/partial", "var/cache/apt/archives/partial", "var/log/apt"]) {
    mkdirSync(join(system, name), { recursive: true });
  }
  write("etc/resolv.conf", "");
}
