// A lane: a process in a network namespace of its own with a controller, its nginx and a fixture process; runs case after case.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ObjectRefused } from "../../cluster/stored-object";
import { webhookFlags } from "./admission";
import type { Case } from "./case";
import { permanentObjects, runCase } from "./case-run";
import { createClusterWorld } from "./cluster-world";
import { type FixtureLink, raiseLoopback, startFixtureProcess } from "./fixture-link";
import { createFolderWorld } from "./folder-world";
import { NoHashProgram } from "./htpasswd";
import { keyOf, keyText } from "./kube-object";
import type { Authority } from "./materials";
import { createKeyPool, type KeyPool, makeAuthority, makeMaterials } from "./materials";
import { type World, WorldError } from "./world";

export interface LaneOptions {
  readonly bundle: string;
  readonly controller: string;
  readonly folder: string;
  /** The program of a real API server; undefined: the objects are a folder of manifests. */
  readonly kube: string | undefined;
}

export type Result =
  | { readonly outcome: "passed"; readonly durationMs: number }
  | { readonly outcome: "failed"; readonly durationMs: number; readonly problems: readonly string[] }
  | { readonly outcome: "skipped"; readonly durationMs: number; readonly reason: string };

export type LaneRequest = { readonly kind: "run"; readonly case: Case } | { readonly kind: "stop" };
export type LaneReply = { readonly kind: "ready" } | { readonly kind: "result"; readonly id: string; readonly result: Result };

interface Lane {
  readonly world: World;
  readonly fixtures: FixtureLink;
  readonly ca: Authority;
  readonly pool: KeyPool;
  readonly admissionFlags: readonly string[];
}

function admissionFiles(folder: string, ca: Authority, pool: KeyPool): readonly string[] {
  const { texts } = makeMaterials({ hook: { generate: "cert", cn: "webhook", sans: ["127.0.0.1"], ca: "fixture-ca" } }, ca, pool);
  const [cert, key] = [join(folder, "webhook.crt"), join(folder, "webhook.key")];
  writeFileSync(cert, texts.get("hook.crt")!);
  writeFileSync(key, texts.get("hook.key")!);
  return webhookFlags(cert, key);
}

async function openLane(options: LaneOptions): Promise<Lane> {
  raiseLoopback();
  for (const name of ["manifests", "logs"]) mkdirSync(join(options.folder, name), { recursive: true });
  // Keys of the fixtures come from a pool of their own, so that no case gets one of them.
  const own = createKeyPool();
  const ca = makeAuthority("fixture CA", own.take("ec256"));
  const { texts } = makeMaterials(
    { echo: { generate: "cert", cn: "echo.default.svc", sans: ["echo.default.svc"], ca: "fixture-ca" } },
    ca,
    own,
  );
  const fixtures = await startFixtureProcess(options.bundle, { cert: texts.get("echo.crt")!, key: texts.get("echo.key")! });
  const permanent = new Set(permanentObjects().map((one) => keyText(keyOf(one))));
  const { controller, folder, kube } = options;
  const world =
    kube === undefined
      ? createFolderWorld({ controller, folder, permanent })
      : await createClusterWorld({ controller, folder, permanent, kube });
  return { world, fixtures, ca, pool: createKeyPool(), admissionFlags: admissionFiles(options.folder, ca, own) };
}

async function runOne(lane: Lane, one: Case): Promise<Result> {
  const start = Date.now();
  const took = (): number => Date.now() - start;
  try {
    lane.pool.giveBack();
    const { texts } = makeMaterials(one.files, lane.ca, lane.pool);
    const flags = one.needs.includes("admission") ? lane.admissionFlags : [];
    const problems = await runCase(one, { world: lane.world, fixtures: lane.fixtures, texts, flags });
    const last = problems.length === 0 ? undefined : lane.world.obituary();
    if (last !== undefined) return { outcome: "failed", durationMs: took(), problems: [...problems, `the controller ended: ${last}`] };
    return problems.length === 0 ? { outcome: "passed", durationMs: took() } : { outcome: "failed", durationMs: took(), problems };
  } catch (error) {
    if (error instanceof NoHashProgram || error instanceof ObjectRefused)
      return { outcome: "skipped", durationMs: took(), reason: error.message };
    // Whatever state the controller is in, the next case shall not inherit it.
    await lane.world.stop();
    const text = error instanceof WorldError ? error.message : `the runner failed: ${(error as Error).stack ?? error}`;
    return { outcome: "failed", durationMs: took(), problems: [text] };
  }
}

/** Body of the lane's process. Ends when told to, or when the runner is gone. */
export async function serveLane(options: LaneOptions): Promise<void> {
  const say = (reply: LaneReply): void => void process.send!(reply);
  const lane = await openLane(options);
  const leave = async (): Promise<void> => {
    await lane.world.stop();
    process.exit(0);
  };
  process.on("disconnect", () => void leave());
  // Ctrl-C reaches the whole process group; the runner's end is what ends a lane.
  process.on("SIGINT", () => undefined);
  process.on("message", (asked: LaneRequest) => {
    if (asked.kind === "stop") void leave();
    else void runOne(lane, asked.case).then((result) => say({ kind: "result", id: asked.case.id, result }));
  });
  say({ kind: "ready" });
}
