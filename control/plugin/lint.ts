/** Checks for what a newer controller does not read any more; `kubectl ingress-nginx lint`. */

import type { RawIngress } from "./ingresses.ts";

export interface RawDeployment {
  readonly metadata: { readonly name: string; readonly namespace: string };
  readonly spec: { readonly template: { readonly spec: { readonly containers: readonly { readonly args?: readonly string[] }[] } } };
}

interface Check<T> {
  readonly message: string;
  /** Release that brought it; empty counts as 0.0.0. */
  readonly since: string;
  /** Number of the issue in kubernetes/ingress-nginx; 0: none. */
  readonly issue: number;
  readonly finds: (object: T) => boolean;
}

export interface LintOptions {
  readonly from: string;
  readonly to: string;
  readonly verbose: boolean;
  readonly showAll: boolean;
  readonly namespaces: boolean;
}

const prefix = "nginx.ingress.kubernetes.io/";

function removed(name: string, since: string, issue: number): Check<RawIngress> {
  const finds = (ingress: RawIngress) => annotation(ingress, name) !== undefined;
  return { message: `Contains the removed ${name} annotation.`, since, issue, finds };
}

function annotation(ingress: RawIngress, name: string): string | undefined {
  return Object.entries(ingress.metadata.annotations ?? {}).find(([key]) => key.endsWith(`/${name}`) || key === prefix + name)?.[1];
}

function anyKey(ingress: RawIngress, start: string): boolean {
  return Object.keys(ingress.metadata.annotations ?? {}).some((key) => key.startsWith(start));
}

const ingressChecks: readonly Check<RawIngress>[] = [
  removed("secure-backends", "0.21.0", 3203),
  removed("grpc-backend", "0.21.0", 3203),
  removed("add-base-url", "0.22.0", 3174),
  removed("base-url-scheme", "0.22.0", 3174),
  removed("session-cookie-hash", "0.24.0", 3743),
  removed("mirror-uri", "0.28.1", 5015),
  {
    message: "The rewrite-target annotation has no capture group such as $1: every request goes to that one path.",
    since: "0.22.0",
    issue: 3174,
    finds: (ingress) => annotation(ingress, "rewrite-target") !== undefined && !/\$\d/.test(annotation(ingress, "rewrite-target")!),
  },
  {
    message: "Contains an annotation with the prefix nginx.org: it is of another controller.",
    since: "",
    issue: 0,
    finds: (i) => anyKey(i, "nginx.org/"),
  },
  {
    message: "Contains an annotation with the prefix nginx.com: it is of another controller.",
    since: "",
    issue: 0,
    finds: (i) => anyKey(i, "nginx.com/"),
  },
  {
    message: "The x-forwarded-prefix annotation is a path, no longer true or false.",
    since: "0.24.0",
    issue: 3786,
    finds: (ingress) => ["true", "false"].includes(annotation(ingress, "x-forwarded-prefix") ?? ""),
  },
  {
    message: "The configuration-snippet annotation sets satisfy; use the satisfy annotation.",
    since: "",
    issue: 0,
    finds: (ingress) => annotation(ingress, "configuration-snippet")?.includes("satisfy") === true,
  },
];

function flag(name: string, since: string, issue: number): Check<RawDeployment> {
  return {
    message: `Uses removed config flag --${name}`,
    since,
    issue,
    finds: ({ spec }) =>
      spec.template.spec.containers.some(
        ({ args = [] }) => args[0] === "/nginx-ingress-controller" && args.some((arg) => arg.startsWith(`--${name}`)),
      ),
  };
}

const deploymentChecks: readonly Check<RawDeployment>[] = [
  flag("sort-backends", "0.22.0", 3655),
  flag("force-namespace-isolation", "0.24.0", 3887),
];

export function lintIngresses(ingresses: readonly RawIngress[], options: LintOptions): string {
  return lint(ingresses, ingressChecks, options);
}

export function lintDeployments(deployments: readonly RawDeployment[], options: LintOptions): string {
  return lint(deployments, deploymentChecks, options);
}

function lint<T extends { readonly metadata: { readonly name: string; readonly namespace: string } }>(
  objects: readonly T[],
  checks: readonly Check<T>[],
  options: LintOptions,
): string {
  const wanted = checks.filter(({ since }) => compare(since || "0.0.0", options.from) >= 0 && compare(since || "0.0.0", options.to) <= 0);
  let text = "";
  for (const object of objects) {
    const { name, namespace } = object.metadata;
    const shown = options.namespaces ? `${namespace}/${name}` : name;
    const hits = wanted.filter(({ finds }) => finds(object));
    if (hits.length === 0) {
      if (options.showAll) text += `✓ ${shown}\n`;
      continue;
    }
    text += `✗ ${shown}\n`;
    for (const { message, since, issue } of hits) {
      text += `  - ${message}\n`;
      if (options.verbose && since !== "") text += `      Lint added for version ${since}\n`;
      if (options.verbose && issue > 0) text += `      https://github.com/kubernetes/ingress-nginx/issues/${issue}\n`;
    }
    text += "\n";
  }
  return text;
}

function compare(a: string, b: string): number {
  const [left, right] = [a, b].map((text) => text.replace(/^v/, "").split(".").map(Number));
  for (let i = 0; i < 3; i += 1) {
    const difference = (left![i] ?? 0) - (right![i] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
