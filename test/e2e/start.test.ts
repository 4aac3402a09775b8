import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { connect } from "node:net";
import { resolve } from "node:path";
import { afterAll, expect, test } from "vitest";
import { freePorts } from "../../build/free-ports.ts";
import { Ended, eventually } from "../kit/controller.ts";

const root = process.env.SLUICE_ROOT!;

let demo: ChildProcess | undefined;
let output = "";

afterAll(() => {
  if (demo?.exitCode === null && demo.signalCode === null) demo.kill("SIGTERM");
});

function accepts(port: number): Promise<boolean> {
  return new Promise((done) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => {
      socket.destroy();
      done(true);
    });
    socket.once("error", () => done(false));
  });
}

/** What the shell prints for a line as a user would paste it. */
function paste(line: string): string {
  return execFileSync("bash", ["-c", line], { cwd: root, encoding: "utf8" });
}

/** Command lines with that text, which only the demo uses: its folder, its pods. */
function processesNaming(text: string): readonly string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => commandLine(pid))
    .filter((line) => line.includes(text));
}

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
  } catch {
    return "";
  }
}

test("npm start: the five lines it prints work, and Ctrl-C ends all it started", { timeout: 240_000 }, async () => {
  const [http, https, healthz] = (await freePorts(3)) as [number, number, number];
  const args = [resolve(root, "build/start.mjs"), `--http-port=${http}`, `--https-port=${https}`, `--healthz-port=${healthz}`];
  demo = spawn(process.execPath, args, { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
  const keep = (chunk: Buffer): void => {
    output += chunk.toString();
  };
  demo.stdout!.on("data", keep);
  demo.stderr!.on("data", keep);
  await eventually("the demo is ready", () => {
    if (demo!.exitCode !== null) throw new Ended(output);
    return output.includes("Ctrl-C ends it");
  });

  const lines = output
    .split("\n")
    .filter((line) => /^ {2}(curl|for) /.test(line))
    .map((line) => line.trim());
  expect(lines).toHaveLength(5);
  const [plain, path, secure, canary, redirect] = lines.map(paste) as [string, string, string, string, string];
  expect(plain).toMatch(/^app: app-a\n/);
  expect(plain).toContain("path: /hello");
  expect(path).toMatch(/^app: app-a\n/);
  expect(secure).toMatch(/^app: app-a\n/);
  expect(secure).toContain("x-forwarded-proto: https");
  expect(canary).toMatch(/\b1[5-7] app: app-a\n\s+[3-5] app: app-b/);
  expect(redirect).toMatch(/^HTTP\/1.1 308 .*\r\nLocation: https:\/\/secure[.]localhost/);
  const runtimeDir = /--runtime-dir=(\S+)/.exec(output)?.[1] ?? "";
  expect(processesNaming(runtimeDir)).not.toEqual([]);

  demo.kill("SIGINT");
  const code = await new Promise((done) => demo!.once("exit", done));
  expect(code).toBe(0);
  expect(processesNaming(runtimeDir)).toEqual([]);
  expect(processesNaming("app-a/app-a-1@127.30.1.1:7001")).toEqual([]);
  for (const port of [http, https, healthz]) expect(await accepts(port)).toBe(false);
});
