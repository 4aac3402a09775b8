/** kubectl as a child: for answers, or in our place. */

import { spawn } from "node:child_process";
import type { PluginArguments } from "./arguments.ts";

export interface Kubectl {
  /** The parsed JSON of `kubectl get … -o json`. Rejects with kubectl's words. */
  get<T>(args: readonly string[]): Promise<T>;
  text(args: readonly string[]): Promise<string>;
  /** With our terminal; resolves with its exit code. */
  hand(args: readonly string[]): Promise<number>;
}

export function kubectlOf(args: PluginArguments, program = process.env.KUBECTL ?? "kubectl"): Kubectl {
  const text = (more: readonly string[]) =>
    new Promise<string>((resolve, reject) => {
      const child = spawn(program, [...args.kubectl, ...more], { stdio: ["ignore", "pipe", "pipe"] });
      let [out, err] = ["", ""];
      child.stdout.on("data", (part: Buffer) => {
        out += part.toString();
      });
      child.stderr.on("data", (part: Buffer) => {
        err += part.toString();
      });
      child.once("error", reject);
      child.once("close", (code) => (code === 0 ? resolve(out) : reject(new Error(err.trim() || `kubectl ended with ${code}`))));
    });
  return {
    text,
    get: async <T>(more: readonly string[]) => JSON.parse(await text(["get", ...more, "-o", "json"])) as T,
    hand: (more) =>
      new Promise((resolve, reject) => {
        const child = spawn(program, [...args.kubectl, ...more], { stdio: "inherit" });
        child.once("error", reject);
        child.once("close", (code) => resolve(code ?? 1));
      }),
  };
}
