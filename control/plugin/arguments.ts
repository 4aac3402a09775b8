/** The command line of `kubectl ingress-nginx`. */

export interface PluginArguments {
  /** Command and sub-command. */
  readonly words: readonly string[];
  /** Behind "--". */
  readonly rest: readonly string[];
  /** Handed on to every kubectl. */
  readonly kubectl: readonly string[];
  /** Empty: kubectl's own. */
  readonly namespace: string;
  /** Own flags by long name; a switch that is given is "true". */
  readonly values: ReadonlyMap<string, string>;
}

/** kubectl's flags that take a value. */
const kubectlValued: ReadonlySet<string> = new Set(
  ["kubeconfig", "context", "cluster", "user", "server", "token", "as", "as-group", "as-uid", "certificate-authority"].concat([
    "client-certificate",
    "client-key",
    "request-timeout",
    "cache-dir",
    "tls-server-name",
  ]),
);
const kubectlSwitches: ReadonlySet<string> = new Set(["insecure-skip-tls-verify", "disable-compression", "match-server-version"]);
const valued: ReadonlySet<string> = new Set(
  ["pod", "selector", "deployment", "container", "backend", "host", "service", "from-version", "to-version"].concat([
    "limit-bytes",
    "tail",
    "since-time",
    "since",
  ]),
);
const switches: ReadonlySet<string> = new Set([
  "list",
  "tty",
  "stdin",
  "follow",
  "timestamps",
  "previous",
  "all-namespaces",
  "show-all",
  "verbose",
  "help",
]);

/** One letter may mean different things to different commands. */
const letters: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "": { n: "namespace", l: "selector", s: "server", h: "help" },
  exec: { t: "tty", i: "stdin" },
  logs: { f: "follow", p: "previous" },
  lint: { v: "verbose", f: "from-version", t: "to-version", A: "all-namespaces" },
  ingresses: { A: "all-namespaces" },
};

/** Throws with a sentence for the user. */
export function parsePlugin(argv: readonly string[], aliases: Readonly<Record<string, string>>): PluginArguments {
  const end = argv.indexOf("--");
  const queue = end < 0 ? [...argv] : argv.slice(0, end);
  const words: string[] = [];
  const kubectl: string[] = [];
  const values = new Map<string, string>();
  for (let word = queue.shift(); word !== undefined; word = queue.shift()) {
    if (!word.startsWith("-") || word === "-") {
      words.push(words.length === 0 ? (aliases[word] ?? word) : word);
      // What follows exec is the pod's command, with its own flags.
      if (words[0] === "exec" && words.length > 1) {
        words.push(...queue);
        break;
      }
      continue;
    }
    for (const [name, given] of namesOf(word, words[0] ?? "")) {
      const takesValue = valued.has(name) || kubectlValued.has(name) || name === "namespace";
      if (!takesValue && !switches.has(name) && !kubectlSwitches.has(name)) throw new Error(`unknown flag: ${word}`);
      const value = given ?? (takesValue ? queue.shift() : "true");
      if (value === undefined) throw new Error(`flag needs an argument: ${word}`);
      if (kubectlValued.has(name) || kubectlSwitches.has(name)) kubectl.push(`--${name}=${value}`);
      else values.set(name, value);
    }
  }
  return { words, rest: end < 0 ? [] : argv.slice(end + 1), kubectl, namespace: values.get("namespace") ?? "", values };
}

/** Long name and value of each flag of a word: "-it" is two. */
function namesOf(word: string, command: string): [string, string | undefined][] {
  const [head = "", ...tail] = word.split("=");
  const value = tail.length === 0 ? undefined : tail.join("=");
  if (head.startsWith("--")) return [[head.slice(2), value]];
  const known: Readonly<Record<string, string>> = { ...letters[""], ...letters[command] };
  const all = [...head.slice(1)];
  const first = known[all[0] ?? ""];
  // -nfoo
  if (first !== undefined && !switches.has(first) && all.length > 1) return [[first, head.slice(2)]];
  return all.map((letter, index) => [known[letter] ?? letter, index === all.length - 1 ? value : undefined]);
}

export function isOn(args: PluginArguments, name: string): boolean {
  const value = args.values.get(name);
  return value !== undefined && value !== "false";
}
