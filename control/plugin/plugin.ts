/** The commands of `kubectl ingress-nginx`. */

import { version } from "../version.ts";
import { isOn, type PluginArguments, parsePlugin } from "./arguments.ts";
import { ingressTable, type RawIngress, type RawSlice } from "./ingresses.ts";
import { type Kubectl, kubectlOf } from "./kubectl.ts";
import { type LintOptions, lintDeployments, lintIngresses, type RawDeployment } from "./lint.ts";
import { choosePod, execArguments } from "./pods.ts";

type Print = (text: string) => void;
type Command = (args: PluginArguments, kubectl: Kubectl, print: Print) => Promise<number>;

const aliases: Readonly<Record<string, string>> = { ingress: "ingresses", ing: "ingresses" };

const commands: Readonly<Record<string, { readonly doc: string; readonly run: Command }>> = {
  backends: { doc: "[--backend NAME | --list]  Backends of the controller", run: backends },
  certs: { doc: "--host HOST  Certificate and key that a host is served with", run: certs },
  conf: { doc: "[--host HOST]  nginx.conf, or what it amounts to for a host", run: conf },
  exec: { doc: "[-i] [-t] COMMAND…  Runs a command in the controller's pod", run: exec },
  general: { doc: "Settings of the whole server", run: dbg(["general"]) },
  info: { doc: "[--service NAME]  Addresses of the controller's Service", run: info },
  ingresses: { doc: "[--host HOST] [-A]  Table of Ingresses, their Services and endpoints", run: ingresses },
  lint: { doc: "[ingresses | deployments] [-A] [-v] [--show-all] [-f V] [-t V]  What a newer controller does not read", run: lint },
  logs: { doc: "[-f] [-p] [--tail N] [--since D] …  Log of the controller", run: logs },
  ssh: { doc: "A shell in the controller's pod", run: ssh },
  version: { doc: "Version of this plugin", run: async (_args, _kubectl, print) => say(print, `${version}\n`) },
};

/** Resolves with the exit code. As before, what goes wrong in a command is printed to stdout and ends with 0. */
export async function runPlugin(argv: readonly string[], print: Print, connect = kubectlOf): Promise<number> {
  let args: PluginArguments;
  try {
    args = parsePlugin(argv, aliases);
  } catch (error) {
    print(`Error: ${(error as Error).message}\n${usage()}`);
    return 1;
  }
  const command = commands[args.words[0] ?? ""];
  if (command === undefined || isOn(args, "help")) {
    print(usage());
    return args.words.length === 0 || isOn(args, "help") ? 0 : 1;
  }
  if (args.words[0] === "certs" && !args.values.has("host")) {
    print(`Error: required flag(s) "host" not set\n${usage()}`);
    return 1;
  }
  try {
    return await command.run(args, connect(args), print);
  } catch (error) {
    print(`${(error as Error).message}\n`);
    return 0;
  }
}

function usage(): string {
  const lines = Object.entries(commands).map(([name, { doc }]) => `  ${name.padEnd(10)} ${doc}`);
  const choice = "Which pod: --pod NAME, -l SELECTOR, --deployment NAME (ingress-nginx-controller); --container NAME (controller)";
  return `Usage: kubectl ingress-nginx COMMAND [flags of kubectl]\n${lines.join("\n")}\n\n${choice}\n`;
}

function say(print: Print, text: string): number {
  print(text);
  return 0;
}

function dbg(words: readonly string[]): Command {
  return async (args, kubectl, print) => {
    const pod = await choosePod(args, kubectl);
    return say(print, await kubectl.text(execArguments(pod, ["/dbg", ...words])));
  };
}

async function backends(args: PluginArguments, kubectl: Kubectl, print: Print): Promise<number> {
  const name = args.values.get("backend");
  if (name !== undefined && isOn(args, "list")) throw new Error("--list and --backend cannot both be specified");
  const words = name !== undefined ? ["get", name] : [isOn(args, "list") ? "list" : "all"];
  return dbg(["backends", ...words])(args, kubectl, print);
}

async function certs(args: PluginArguments, kubectl: Kubectl, print: Print): Promise<number> {
  return dbg(["certs", "get", args.values.get("host")!])(args, kubectl, print);
}

async function conf(args: PluginArguments, kubectl: Kubectl, print: Print): Promise<number> {
  const host = args.values.get("host");
  return dbg(host === undefined ? ["conf"] : ["conf", `--host=${host}`])(args, kubectl, print);
}

async function exec(args: PluginArguments, kubectl: Kubectl): Promise<number> {
  const pod = await choosePod(args, kubectl);
  const flags = [...(isOn(args, "stdin") ? ["-i"] : []), ...(isOn(args, "tty") ? ["-t"] : [])];
  return kubectl.hand(execArguments(pod, [...args.words.slice(1), ...args.rest], flags));
}

async function ssh(args: PluginArguments, kubectl: Kubectl): Promise<number> {
  return kubectl.hand(execArguments(await choosePod(args, kubectl), ["/bin/bash"], ["-it"]));
}

async function logs(args: PluginArguments, kubectl: Kubectl): Promise<number> {
  const pod = await choosePod(args, kubectl);
  const flags = ["follow", "timestamps", "previous"].filter((name) => isOn(args, name)).map((name) => `--${name}`);
  for (const name of ["limit-bytes", "tail", "since-time", "since"]) {
    const value = args.values.get(name);
    if (value !== undefined && value !== "0") flags.push(`--${name}=${value}`);
  }
  return kubectl.hand(["logs", "-n", pod.namespace, "-c", pod.container, pod.name, ...flags]);
}

interface Service {
  readonly spec: { readonly clusterIP?: string; readonly loadBalancerIP?: string };
  readonly status?: { readonly loadBalancer?: { readonly ingress?: readonly { readonly ip?: string; readonly hostname?: string }[] } };
}

async function info(args: PluginArguments, kubectl: Kubectl, print: Print): Promise<number> {
  const where = args.namespace === "" ? [] : ["-n", args.namespace];
  const { spec, status } = await kubectl.get<Service>(["service", args.values.get("service") ?? "ingress-nginx-controller", ...where]);
  const given = status?.loadBalancer?.ingress?.map(({ ip, hostname }) => ip ?? hostname ?? "").join(",");
  return say(
    print,
    `Service cluster IP address: ${spec.clusterIP ?? ""}\nLoadBalancer IP|CNAME: ${spec.loadBalancerIP || (given ?? "")}\n`,
  );
}

function scope(args: PluginArguments): readonly string[] {
  if (isOn(args, "all-namespaces")) return ["--all-namespaces"];
  return args.namespace === "" ? [] : ["-n", args.namespace];
}

interface List<T> {
  readonly items: readonly T[];
}

async function ingresses(args: PluginArguments, kubectl: Kubectl, print: Print): Promise<number> {
  const where = scope(args);
  const [found, slices] = await Promise.all([
    kubectl.get<List<RawIngress>>(["ingresses.networking.k8s.io", ...where]),
    kubectl.get<List<RawSlice>>(["endpointslices.discovery.k8s.io", ...where]),
  ]);
  const host = args.values.get("host");
  return say(
    print,
    ingressTable(found.items, slices.items, { namespaces: isOn(args, "all-namespaces"), ...(host === undefined ? {} : { host }) }),
  );
}

async function lint(args: PluginArguments, kubectl: Kubectl, print: Print): Promise<number> {
  const options: LintOptions = {
    from: args.values.get("from-version") ?? "0.0.0",
    to: args.values.get("to-version") ?? "999.0.0",
    verbose: isOn(args, "verbose"),
    showAll: isOn(args, "show-all"),
    namespaces: isOn(args, "all-namespaces"),
  };
  const what = args.words[1] ?? "";
  const where = scope(args);
  if (["", "ingresses", "ingress", "ing"].includes(what)) {
    print("Checking ingresses...\n");
    print(lintIngresses((await kubectl.get<List<RawIngress>>(["ingresses.networking.k8s.io", ...where])).items, options));
  }
  if (["", "deployments", "deployment", "dep"].includes(what)) {
    print("Checking deployments...\n");
    print(lintDeployments((await kubectl.get<List<RawDeployment>>(["deployments.apps", ...where])).items, options));
  }
  return 0;
}
