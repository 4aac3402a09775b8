/**
 * The image suite: builds the image, runs it as a pod would, and black-box cases inside it.
 * usage: node build/run.mjs test/image/main.ts [case groups…]
 */

import { execFileSync, spawn } from "node:child_process";
import { resolve } from "node:path";
import { bud, buildImage, containerEnv, imageName, imageObstacle, NoBase } from "../../build/container-image.ts";
import { countsText, type Outcome, outcomeOfText } from "../../build/outcome.ts";
import { type Check, checks, lowPortChecks } from "./checks.ts";
import { startContainer } from "./container.ts";
import { makeNetwork, type Network } from "./network.ts";

const root = process.env.SLUICE_ROOT!;
const testImage = "localhost/sluice-test:dev";

/** One group of each module that the image brings, and the ordinary path. */
const groups = ["routing-host", "tls-certificate", "canary", "modsecurity", "settings-compression", "tcpudp"];

interface Totals {
  passed: number;
  readonly failures: string[];
  readonly skips: Record<string, number>;
}

function curlHttp3(network: Network): (...args: readonly string[]) => string {
  const run = ["run", "--rm", `--network=ns:/run/netns/${network.name}`, testImage, "curl", "--http3-only", "-sSk", "--max-time", "5"];
  return (...args) =>
    execFileSync("podman", [...run, ...args], { env: containerEnv(), encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}

async function runChecks(rows: readonly Check[], strict: boolean, totals: Totals): Promise<void> {
  const name = `sluice-image-${process.pid}-${strict ? "a" : "b"}`;
  const network = await makeNetwork(root, name, strict);
  try {
    const options = { root, image: imageName, env: containerEnv(), network, noNewPrivileges: strict };
    const container = await startContainer(options);
    try {
      for (const check of rows) attempt(check, () => check.run({ container, network, http3: curlHttp3(network) }), totals);
    } finally {
      container.remove();
    }
  } finally {
    network.remove();
  }
}

function attempt(check: Check, body: () => void, totals: Totals): void {
  try {
    body();
    totals.passed += 1;
    console.log(`  ok ${check.name}`);
  } catch (error) {
    totals.failures.push(check.name);
    console.log(`FAILED ${check.name}\n${(error as Error).message}`);
  }
}

/** The image's nginx, Node and controller, in a container that may make network namespaces. */
async function runCases(names: readonly string[]): Promise<Outcome | undefined> {
  const inside = ["node", "build/run.mjs", "test/cases/runner/main.ts", ...names.map((name) => `test/cases/${name}`)];
  const rights = [
    "--cap-add=SYS_ADMIN,NET_ADMIN,NET_RAW,SYS_PTRACE",
    "--security-opt=seccomp=unconfined",
    "--security-opt=apparmor=unconfined",
  ];
  const args = ["run", "--rm", "--network=none", ...rights, "-v", `${root}:${root}`, "-w", root, testImage];
  const controller = "--controller=/usr/lib/sluice/nginx-ingress-controller.mjs";
  const child = spawn("podman", [...args, ...inside, controller, "--lanes=2"], {
    env: containerEnv(),
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => {
    output += chunk.toString();
    process.stdout.write(chunk);
  });
  await new Promise((done) => child.once("close", done));
  return outcomeOfText(output);
}

function report(totals: Totals, cases: Outcome | undefined): void {
  const failures = [...totals.failures, ...(cases?.failures ?? ["the-cases-inside"])];
  for (const [reason, count] of Object.entries({ ...totals.skips, ...cases?.skips })) console.log(`  ${count} × ${reason}`);
  for (const name of failures) console.log(`FAILED ${name}`);
  const skipped = Object.values(totals.skips).reduce((sum, count) => sum + count, 0) + (cases?.skipped ?? 0);
  console.log(countsText({ passed: totals.passed + (cases?.passed ?? 0), failed: failures.length, skipped }));
  process.exitCode = failures.length > 0 ? 1 : 0;
}

async function buildObstacle(): Promise<string | undefined> {
  try {
    await buildImage();
    return undefined;
  } catch (error) {
    if (error instanceof NoBase) return error.message;
    throw error;
  }
}

async function main(): Promise<void> {
  const totals: Totals = { passed: 0, failures: [], skips: {} };
  const obstacle = imageObstacle() ?? (await buildObstacle());
  if (obstacle !== undefined) {
    console.log(`  1 × ${obstacle}\n${countsText({ passed: 0, failed: 0, skipped: 1 })}`);
    return;
  }
  await bud("adding the case runner's tools", [`--build-arg=BASE=${imageName}`, "-t", testImage, resolve(root, "test/image")]);
  await runChecks(checks, true, totals);
  await runChecks(lowPortChecks, false, totals);
  const asked = process.argv.slice(2);
  report(totals, await runCases(asked.length > 0 ? asked : groups));
}

await main();
