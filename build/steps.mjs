// Runs programs one after another and says on the console what is under way; their output is shown only when they fail.
import { spawn } from "node:child_process";

/** A step that failed and has been reported in full: the caller ends without more text. */
export class StepFailed extends Error {}

/** Children that run now; ended together with us. */
const running = new Set();

for (const signal of ["SIGINT", "SIGTERM"]) {
  process.once(signal, () => {
    for (const child of running) child.kill("SIGTERM");
    process.exitCode = signal === "SIGINT" ? 130 : 143;
  });
}

/**
 * Runs a program quietly between "title …" and "title: done (3 s)".
 * @param {string} title
 * @param {string} program
 * @param {readonly string[]} args
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv, failure?: "report" | "return" }} [options]
 * @returns {Promise<boolean>} false only with failure: "return"
 */
export async function step(title, program, args, options = {}) {
  const started = Date.now();
  process.stdout.write(`  ${title} …\n`);
  const { code, output } = await capture(program, args, options);
  const seconds = ((Date.now() - started) / 1000).toFixed(1);
  if (code === 0) {
    process.stdout.write(`  ${title}: done (${seconds} s)\n`);
    return true;
  }
  if (options.failure === "return") {
    process.stdout.write(`  ${title}: not possible yet (${seconds} s)\n`);
    return false;
  }
  process.stderr.write(`\n${output.trimEnd()}\n\n  ${title}: failed (${code}): ${program} ${args.join(" ")}\n`);
  throw new StepFailed(title);
}

/**
 * @param {string} program
 * @param {readonly string[]} args
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv }} [options]
 * @returns {Promise<{ code: number | string, output: string }>} code: exit code, signal name or error code
 */
export function capture(program, args, options = {}) {
  return new Promise((resolve) => {
    const child = spawn(program, [...args], { cwd: options.cwd, env: options.env ?? process.env, stdio: ["ignore", "pipe", "pipe"] });
    running.add(child);
    let output = "";
    const keep = (chunk) => {
      output = (output + chunk).slice(-200_000);
    };
    child.stdout.on("data", keep);
    child.stderr.on("data", keep);
    child.once("error", (error) => {
      running.delete(child);
      resolve({ code: error.code ?? "error", output: `${output}${error.message}\n` });
    });
    child.once("close", (code, signal) => {
      running.delete(child);
      resolve({ code: code ?? signal ?? "unknown", output });
    });
  });
}

/**
 * Runs the body of a command; a failed step ends the process with 1, a bug with its stack.
 * @param {() => Promise<void>} body
 */
export async function command(body) {
  try {
    await body();
  } catch (error) {
    if (!(error instanceof StepFailed)) console.error(error);
    process.exitCode ||= 1;
  }
}
