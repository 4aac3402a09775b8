// The fixture process of a lane, in a network namespace of its own that a pair of virtual interfaces joins to the lane's.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { NETWORK } from "../../kit/fixtures/catalog";
import type { KeyPair } from "../../kit/fixtures/http-echo";
import type { Recorded } from "../../kit/fixtures/record";
import { startFixtures } from "../../kit/fixtures/server";

type Ask =
  | { readonly kind: "start"; readonly tls: KeyPair }
  | { readonly kind: "reset" }
  | { readonly kind: "scale"; readonly service: string; readonly pods: number }
  | { readonly kind: "seen"; readonly service: string };

export interface FixtureLink {
  reset(): Promise<void>;
  scale(service: string, pods: number): Promise<void>;
  seen(service: string): Promise<readonly Recorded[]>;
  stop(): void;
}

/** Command and arguments that run a program in a new network namespace. */
export function inNewNetwork(program: string, args: readonly string[]): readonly [string, readonly string[]] {
  const asRoot = process.getuid?.() === 0 || process.env.SLUICE_CASES_USERNS === "1";
  return ["unshare", [...(asRoot ? [] : ["--map-root-user"]), "--net", "--", program, ...args]];
}

function ip(...args: readonly string[]): void {
  execFileSync("ip", args, { stdio: ["ignore", "ignore", "pipe"] });
}

export function raiseLoopback(): void {
  ip("link", "set", "lo", "up");
}

/** Body of the fixture process: obeys what comes from the lane. */
export async function serveFixtures(): Promise<void> {
  let fixtures: Awaited<ReturnType<typeof startFixtures>> | undefined;
  async function obey(ask: Ask): Promise<unknown> {
    if (ask.kind === "start") {
      raiseLoopback();
      ip("address", "add", `${NETWORK}.0.1/16`, "dev", "fixtures");
      ip("link", "set", "fixtures", "up");
      // Every address in the lower half is ours without being listed.
      ip("route", "add", "local", `${NETWORK}.0.0/17`, "dev", "lo");
      fixtures = await startFixtures(ask.tls);
    } else if (ask.kind === "reset") fixtures?.reset();
    else if (ask.kind === "scale") fixtures?.scale(ask.service, ask.pods);
    else return fixtures?.seen(ask.service);
    return null;
  }
  process.on("disconnect", () => process.exit(0));
  process.on("SIGINT", () => undefined);
  process.on("message", (ask: Ask) => {
    obey(ask).then(
      (value) => process.send!({ value }),
      (error: Error) => process.send!({ error: error.message }),
    );
  });
  process.send!({ value: "up" });
}

async function answer(child: ChildProcess): Promise<unknown> {
  const ended = new AbortController();
  const onExit = (): void => ended.abort();
  child.once("exit", onExit);
  try {
    const [message] = (await once(child, "message", { signal: ended.signal })) as [{ value?: unknown; error?: string }];
    if (message.error !== undefined) throw new Error(`fixtures: ${message.error}`);
    return message.value;
  } finally {
    child.off("exit", onExit);
  }
}

/** Starts the process from inside the lane's network namespace and joins the two. */
export async function startFixtureProcess(bundle: string, tls: KeyPair): Promise<FixtureLink> {
  const [program, args] = inNewNetwork(process.execPath, [bundle, "--as-fixtures"]);
  const child = spawn(program, args, { stdio: ["ignore", "inherit", "inherit", "ipc"], env: { ...process.env, SLUICE_CASES_USERNS: "1" } });
  await answer(child);
  ip("link", "add", "lane", "type", "veth", "peer", "name", "fixtures", "netns", String(child.pid));
  ip("address", "add", `${NETWORK}.255.1/16`, "dev", "lane");
  ip("link", "set", "lane", "up");
  const call = async (ask: Ask): Promise<unknown> => {
    const reply = answer(child);
    child.send(ask);
    return reply;
  };
  await call({ kind: "start", tls });
  return {
    reset: async () => void (await call({ kind: "reset" })),
    scale: async (service, pods) => void (await call({ kind: "scale", service, pods })),
    seen: async (service) => (await call({ kind: "seen", service })) as readonly Recorded[],
    stop: () => child.disconnect(),
  };
}
