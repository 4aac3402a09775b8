/** Command line of certgen, in the form of the tool that it replaces. */

export interface CreateArguments {
  readonly command: "create";
  readonly hosts: readonly string[];
  readonly secretName: string;
  readonly namespace: string;
  readonly certName: string;
  readonly keyName: string;
  /** Ours: makes a new one when the certificate there is ends within so many milliseconds; 0: never. */
  readonly renewBeforeMs: number;
  /** Ours. */
  readonly days: number;
}

export interface PatchArguments {
  readonly command: "patch";
  readonly secretName: string;
  readonly namespace: string;
  readonly webhookName: string;
  readonly apiServiceName: string;
  readonly validating: boolean;
  readonly mutating: boolean;
  readonly failurePolicy: "" | "Ignore" | "Fail";
}

export type CertgenArguments = (CreateArguments | PatchArguments | { readonly command: "version" } | { readonly command: "help" }) & {
  readonly kubeconfig: string;
  readonly logFormat: string;
};

export const certgenUsage = `Usage: kube-webhook-certgen create|patch|version [flags]

  create  makes a CA and a certificate signed by it and stores them in a Secret, unless it is there
      --host             comma list of the names and addresses of the certificate (required)
      --secret-name      (required)
      --namespace        of the Secret (required)
      --cert-name        key of the certificate in the Secret (default cert)
      --key-name         key of the private key in the Secret (default key)
      --days             how long it holds (default 36500)
      --renew-before     makes a new one when the one there ends within this time, e.g. 720h (default 0: never)
  patch   writes the CA of the Secret into webhook configurations and an APIService
      --secret-name, --namespace   (required)
      --webhook-name     of the Validating- and MutatingWebhookConfiguration
      --apiservice-name
      --patch-validating (default true)
      --patch-mutating   (default true)
      --patch-failure-policy  Ignore or Fail

  --kubeconfig, --log-format json|text, --log-level (accepted)
`;

const switches: ReadonlySet<string> = new Set(["patch-validating", "patch-mutating"]);
const known: ReadonlySet<string> = new Set(
  ["host", "secret-name", "namespace", "cert-name", "key-name", "days", "renew-before", "webhook-name", "apiservice-name"].concat([
    "patch-validating",
    "patch-mutating",
    "patch-failure-policy",
    "kubeconfig",
    "log-format",
    "log-level",
  ]),
);

/** Throws with a sentence for the user. */
export function parseCertgen(argv: readonly string[], duration: (text: string) => number | undefined): CertgenArguments {
  const { words, flags } = split(argv);
  const base = { kubeconfig: flags.get("kubeconfig") ?? "", logFormat: flags.get("log-format") ?? "json" };
  const [command = "help"] = words;
  if (flags.has("help") || command === "help") return { ...base, command: "help" };
  if (command === "version") return { ...base, command };
  if (command !== "create" && command !== "patch") throw new Error(`unknown command "${command}"`);
  const secret = { secretName: need(flags, "secret-name"), namespace: need(flags, "namespace") };
  if (command === "create") {
    const renewBeforeMs = duration(flags.get("renew-before") ?? "0");
    const days = Number(flags.get("days") ?? "36500");
    if (renewBeforeMs === undefined || renewBeforeMs < 0) throw new Error("flag --renew-before must be a duration such as 720h");
    if (!Number.isInteger(days) || days < 1 || days > 36_500) throw new Error("flag --days must be a number from 1 to 36500");
    const hosts = need(flags, "host")
      .split(",")
      .map((host) => host.trim())
      .filter((host) => host !== "");
    return {
      ...base,
      ...secret,
      command,
      hosts,
      certName: flags.get("cert-name") ?? "cert",
      keyName: flags.get("key-name") ?? "key",
      renewBeforeMs,
      days,
    };
  }
  return { ...base, ...secret, command, ...targets(flags) };
}

function targets(flags: ReadonlyMap<string, string>): Omit<PatchArguments, "command" | "secretName" | "namespace"> {
  const failurePolicy = flags.get("patch-failure-policy") ?? "";
  if (failurePolicy !== "" && failurePolicy !== "Ignore" && failurePolicy !== "Fail") {
    throw new Error(`flag --patch-failure-policy must be Ignore or Fail: ${failurePolicy}`);
  }
  const validating = truth(flags, "patch-validating");
  const mutating = truth(flags, "patch-mutating");
  const apiServiceName = flags.get("apiservice-name") ?? "";
  const webhookName = flags.get("webhook-name") ?? "";
  if (!validating && !mutating && apiServiceName === "") throw new Error("nothing to patch: all targets are switched off");
  if (failurePolicy !== "" && !validating && !mutating)
    throw new Error("flag --patch-failure-policy needs --patch-validating or --patch-mutating");
  if ((validating || mutating) && webhookName === "" && apiServiceName === "") throw new Error("flag --webhook-name is required");
  return {
    webhookName,
    apiServiceName,
    validating: validating && webhookName !== "",
    mutating: mutating && webhookName !== "",
    failurePolicy,
  };
}

function split(argv: readonly string[]): { readonly words: readonly string[]; readonly flags: ReadonlyMap<string, string> } {
  const words: string[] = [];
  const flags = new Map<string, string>();
  const rest = [...argv];
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    if (!word.startsWith("-")) {
      words.push(word);
      continue;
    }
    const [, name = "", value] = /^--?([^=]+)(?:=(.*))?$/s.exec(word) ?? [];
    if (name === "help" || name === "h") flags.set("help", "");
    else if (!known.has(name)) throw new Error(`unknown flag: ${word}`);
    else if (value !== undefined) flags.set(name, value);
    else if (switches.has(name)) flags.set(name, "true");
    else {
      const next = rest.shift();
      if (next === undefined) throw new Error(`flag needs an argument: --${name}`);
      flags.set(name, next);
    }
  }
  return { words, flags };
}

function need(flags: ReadonlyMap<string, string>, name: string): string {
  const value = flags.get(name) ?? "";
  if (value === "") throw new Error(`flag --${name} is required`);
  return value;
}

function truth(flags: ReadonlyMap<string, string>, name: string): boolean {
  const value = flags.get(name) ?? "true";
  if (value !== "true" && value !== "false") throw new Error(`flag --${name} must be true or false: ${value}`);
  return value === "true";
}
