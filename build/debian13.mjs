// Debian 13's nginx in a folder of its own, so that a Debian 12 machine also tests with the nginx that the image has.
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { capture, step } from "./steps.mjs";

const names = [
  "nginx",
  "libnginx-mod-http-lua",
  "libnginx-mod-http-headers-more-filter",
  "libnginx-mod-http-brotli-filter",
  "libnginx-mod-http-geoip2",
  "libnginx-mod-http-modsecurity",
  "libnginx-mod-stream",
  "libnginx-mod-stream-js",
  "lua-resty-core",
  "lua-cjson",
];

const keyring = "/usr/share/keyrings/debian-archive-keyring.gpg";

/** @param {string} root the project @returns {string} the program to start; it is there after installDebian13 */
export function debian13Binary(root) {
  return join(root, ".cache/debian13/nginx");
}

/**
 * Downloads and unpacks; installs nothing on the machine and needs no root.
 * @param {string} root
 * @returns {Promise<readonly string[]>} why it is not there, if it is not
 */
export async function installDebian13(root) {
  const dir = join(root, ".cache/debian13");
  const list = join(dir, "packages");
  if (existsSync(list) && readFileSync(list, "utf8") === names.join("\n")) return [];
  if (process.arch !== "x64") return [`no Debian 13 nginx for ${process.arch} here: its tests are skipped`];
  if (!existsSync(keyring) || (await capture("dpkg-deb", ["--version"])).code !== 0) {
    return ["no Debian 13 nginx: this machine is no Debian; its tests are skipped"];
  }
  const work = `${dir}-${process.pid}`;
  try {
    const apt = aptIn(work);
    const title = "fetching Debian 13's nginx into .cache";
    if (!(await step(`${title}: lists`, "apt-get", [...apt, "update"], { failure: "return" })))
      return ["no Debian 13 nginx: no package lists"];
    if (!(await step(title, "apt-get", [...apt, "install", "-y", "--download-only", ...names], { failure: "return" }))) {
      return ["no Debian 13 nginx: the packages cannot be fetched"];
    }
    const archives = join(work, "archives");
    for (const file of readdirSync(archives).filter((name) => name.endsWith(".deb"))) {
      const { code, output } = await capture("dpkg-deb", ["-x", join(archives, file), join(work, "root")]);
      if (code !== 0) return [`no Debian 13 nginx: ${file}: ${output.trim()}`];
    }
    // The name of the program is what /proc shows, and what the controller looks for.
    mkdirSync(join(work, "loader"));
    symlinkSync(join(dir, "root/usr/lib64/ld-linux-x86-64.so.2"), join(work, "loader/nginx"));
    writeFileSync(join(work, "nginx"), script(dir), { mode: 0o755 });
    writeFileSync(join(work, "packages"), names.join("\n"));
    for (const gone of ["archives", "lists", "cache"]) rmSync(join(work, gone), { recursive: true, force: true });
    // one with another list of packages
    rmSync(dir, { recursive: true, force: true });
    renameSync(work, dir);
    return [];
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** Options that keep apt to that folder, as on a machine with no package at all. @param {string} work */
function aptIn(work) {
  for (const folder of ["lists/partial", "archives/partial", "cache", "root"]) mkdirSync(join(work, folder), { recursive: true });
  writeFileSync(join(work, "sources.list"), `deb [signed-by=${keyring}] http://deb.debian.org/debian trixie main\n`);
  writeFileSync(join(work, "status"), "");
  const options = {
    "Dir::Etc::sourcelist": join(work, "sources.list"),
    "Dir::Etc::sourceparts": "/nonexistent",
    "Dir::State::lists": join(work, "lists"),
    "Dir::State::status": join(work, "status"),
    "Dir::Cache": join(work, "cache"),
    "Dir::Cache::archives": join(work, "archives"),
    "Debug::NoLocking": "1",
    "APT::Install-Recommends": "0",
    "APT::Sandbox::User": process.getuid?.() === 0 ? "root" : "",
  };
  return Object.entries(options).map(([name, value]) => `-o${name}=${value}`);
}

/** Its own loader and C library: those of the machine are older. @param {string} dir */
function script(dir) {
  const libraries = `${dir}/root/usr/lib/x86_64-linux-gnu`;
  return `#!/bin/sh
exec "${dir}/loader/nginx" --library-path "${libraries}" --argv0 nginx "${dir}/root/usr/sbin/nginx" "$@"
`;
}
