/** The chart rendered by Helm's own engine, a Go program that is built on first use and kept in ~/.cache/sluice. */

import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync } from "node:fs";
import { homedir } from "node:os";
import { resolve } from "node:path";
import { parseAllDocuments } from "yaml";

export type Json = Readonly<Record<string, unknown>>;

export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  // biome-ignore lint/suspicious/noExplicitAny: manifests of many kinds, read field by field
  readonly [field: string]: any;
}

export interface Variant {
  readonly name: string;
  readonly release: string;
  readonly namespace: string;
  readonly values: Json;
  /** Word of the message with which rendering must fail. */
  readonly fails?: string;
}

export type Rendered =
  | { readonly variant: Variant; readonly kind: "manifests"; readonly manifests: readonly Manifest[]; readonly texts: readonly string[] }
  | { readonly variant: Variant; readonly kind: "error"; readonly error: string };

const root = process.env.SLUICE_ROOT!;
const source = resolve(root, "test/helm/go");

function program(): string {
  const hash = createHash("sha256");
  for (const name of ["go.mod", "go.sum", "main.go"]) hash.update(readFileSync(resolve(source, name)));
  return resolve(homedir(), ".cache/sluice", `helm-${hash.digest("hex").slice(0, 16)}`, "sluice-helm");
}

/** Why the chart cannot be rendered on this machine; undefined when it can. */
export function obstacle(): string | undefined {
  if (existsSync(program())) return undefined;
  if (spawnSync("go", ["version"]).status !== 0) return "there is no Go toolchain to build Helm's engine with";
  const download = spawnSync("go", ["mod", "download"], { cwd: source, encoding: "utf8" });
  return download.status === 0
    ? undefined
    : `the Go modules of Helm's engine cannot be fetched: ${download.stderr.trim().split("\n").at(-1)}`;
}

function build(): string {
  const to = program();
  if (existsSync(to)) return to;
  mkdirSync(resolve(to, ".."), { recursive: true });
  console.log("  building Helm's engine (once, about two minutes)");
  execFileSync("nice", ["go", "build", "-trimpath", "-ldflags=-s -w", "-o", `${to}.new`, "."], {
    cwd: source,
    stdio: ["ignore", "inherit", "inherit"],
    env: { ...process.env, GOFLAGS: "-p=1 -buildvcs=false" },
  });
  renameSync(`${to}.new`, to);
  return to;
}

interface Answer {
  readonly files?: Readonly<Record<string, string>>;
  readonly error?: string;
}

/** One entry a variant, in their order. Throws when a text is no YAML. */
export function render(variants: readonly Variant[]): Rendered[] {
  const output = execFileSync(build(), [resolve(root, "charts/sluice")], {
    input: JSON.stringify(variants.map(({ name, release, namespace, values }) => ({ name, release, namespace, values }))),
    encoding: "utf8",
    maxBuffer: 64 << 20,
  });
  const answers = JSON.parse(output) as readonly Answer[];
  return answers.map((answer, i): Rendered => {
    const variant = variants[i]!;
    if (answer.error !== undefined) return { variant, kind: "error", error: answer.error };
    const files = Object.entries(answer.files ?? {}).filter(([name, text]) => name.endsWith(".yaml") && text.trim() !== "");
    const parts = files.toSorted(([a], [b]) => (a < b ? -1 : 1)).flatMap(([name, text]) => split(`${variant.name}: ${name}`, text));
    return { variant, kind: "manifests", manifests: parts.map((part) => part.manifest), texts: parts.map((part) => part.text) };
  });
}

function split(where: string, text: string): { readonly manifest: Manifest; readonly text: string }[] {
  // A key that is there twice is an error of the parser.
  return parseAllDocuments(text).flatMap((document) => {
    const [problem] = [...document.errors, ...document.warnings];
    if (problem !== undefined) throw new Error(`${where}: ${problem.message}`);
    const manifest = document.toJS() as Manifest | null;
    return manifest === null
      ? []
      : [
          {
            manifest,
            text: document
              .toString({ lineWidth: 0, directives: false })
              .replace(/^---\n/, "")
              .trim(),
          },
        ];
  });
}
