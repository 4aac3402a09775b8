// Brings a machine that has only Node to the point where everything builds and runs: Debian packages and node_modules.
// What cannot be installed is returned with the reason; nothing is skipped silently.
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { packages } from "./packages.mjs";
import { capture, StepFailed, step } from "./steps.mjs";

export const root = resolve(fileURLToPath(import.meta.url), "../..");

const policyFile = "/usr/sbin/policy-rc.d";

/**
 * Installs what is missing for that purpose.
 * @param {"run" | "test" | "image"} purpose
 * @returns {Promise<readonly string[]>} what is still missing, one sentence each; empty when all is there
 */
export async function install(purpose) {
  checkNode();
  const problems = await installPackages(purpose);
  await installModules();
  return problems;
}

function checkNode() {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  if (major > 20 || (major === 20 && minor >= 18)) return;
  console.error(`  Sluice needs Node 20.18 or newer; this is ${process.versions.node}.`);
  throw new StepFailed("node");
}

/** @param {readonly string[]} files */
function present(files) {
  return files.some((file) => {
    const [before, after] = file.split("/*/");
    if (after === undefined) return existsSync(file);
    if (!existsSync(before)) return false;
    return readdirSync(before).some((name) => existsSync(`${before}/${name}/${after}`));
  });
}

/** @param {"run" | "test" | "image"} purpose */
function missingPackages(purpose) {
  return packages.filter((row) => (row.needed === "run" || row.needed === purpose) && !present(row.files));
}

/** @param {"run" | "test" | "image"} purpose */
async function installPackages(purpose) {
  const missing = missingPackages(purpose);
  if (missing.length === 0) return [];
  const names = missing.map((row) => row.name);
  const obstacle = await aptObstacle();
  if (obstacle === undefined) await aptInstall(names);
  const still = missingPackages(purpose);
  if (still.length === 0) return [];
  const reason = obstacle ?? "apt-get install failed (its output is above)";
  return [
    ...still.map((row) => `${row.name} is not installed (${row.why}): ${reason}`),
    `install by hand: apt-get install -y --no-install-recommends ${still.map((row) => row.name).join(" ")}`,
  ];
}

async function aptObstacle() {
  if ((await capture("apt-get", ["--version"])).code !== 0) return "this machine has no apt-get";
  if (process.getuid?.() !== 0) return "not running as root";
  return undefined;
}

/** @param {readonly string[]} names */
async function aptInstall(names) {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const args = ["install", "-y", "--no-install-recommends", ...names];
  console.log(`  missing Debian packages: ${names.join(", ")}`);
  const title = `installing ${names.length} Debian packages`;
  const newNginx = names.includes("nginx");
  await withoutServices(async () => {
    if (await step(title, "apt-get", args, { env, failure: "return" })) return;
    await step("reading the package lists", "apt-get", ["update"], { env, failure: "return" });
    await step(title, "apt-get", args, { env }).catch(ignoreReported);
  });
  // The package enables its service for the next boot, where it would take port 80.
  if (newNginx) await capture("update-rc.d", ["nginx", "disable"]);
}

/** @param {unknown} error */
function ignoreReported(error) {
  if (!(error instanceof StepFailed)) throw error;
}

/**
 * Debian starts a service on installation unless policy-rc.d says 101. A policy that is there already stays as it is.
 * @param {() => Promise<void>} body
 */
async function withoutServices(body) {
  const ours = !existsSync(policyFile);
  if (ours) writeFileSync(policyFile, "#!/bin/sh\nexit 101\n", { mode: 0o755 });
  try {
    await body();
  } finally {
    if (ours) rmSync(policyFile, { force: true });
  }
}

async function installModules() {
  if (!modulesStale()) return;
  await step("installing node modules (npm ci)", "npm", ["ci", "--no-audit", "--no-fund"], { cwd: root });
}

/** True when node_modules lacks something that package-lock.json names, or has it in another version. */
function modulesStale() {
  const lockFile = resolve(root, "package-lock.json");
  const installedFile = resolve(root, "node_modules/.package-lock.json");
  if (!existsSync(installedFile)) return true;
  if (statSync(lockFile).mtimeMs <= statSync(installedFile).mtimeMs) return false;
  const wanted = JSON.parse(readFileSync(lockFile, "utf8")).packages;
  const installed = JSON.parse(readFileSync(installedFile, "utf8")).packages;
  return Object.entries(wanted).some(([path, row]) => {
    if (path === "") return false;
    const have = installed[path];
    return have === undefined ? row.optional !== true : have.version !== row.version;
  });
}
