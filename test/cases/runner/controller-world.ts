// The world of a lane: the objects in a store, and a controller that follows them.
import { join } from "node:path";
import type { KubeObject } from "../../kit/fixtures/objects";
import { type ControllerProcess, HEALTHZ_PORT, startController } from "./controller";
import { type World, WorldError } from "./world";

const APPLY_SECONDS = 15;

export interface ObjectChange {
  /** "Kind/namespace/name@version" of what is new or different. */
  readonly changed: readonly string[];
  /** "Kind/namespace/name" of what is no longer there. */
  readonly gone: readonly string[];
}

export interface ObjectStore {
  /** Makes these the only objects; `fresh` makes all that are not permanent new ones. */
  replace(objects: readonly KubeObject[], fresh: boolean): Promise<ObjectChange>;
  /** Every object, as `changed` names them. */
  all(): readonly string[];
}

export interface ControllerWorldOptions {
  readonly controller: string;
  /** Has logs/ inside. */
  readonly folder: string;
  /** That lead the controller to the store. */
  readonly flags: readonly string[];
  readonly store: ObjectStore;
}

function portFlag(flags: readonly string[], name: string, otherwise: number): number {
  const found = flags.findLast((flag) => flag.startsWith(`--${name}=`));
  return found === undefined ? otherwise : Number(found.slice(name.length + 3));
}

async function waitApplied(change: ObjectChange, process: ControllerProcess): Promise<void> {
  const query = new URLSearchParams({ timeout: `${APPLY_SECONDS}s` });
  for (const object of change.changed) query.append("object", object);
  for (const key of change.gone) query.append("gone", key);
  const limit = AbortSignal.timeout((APPLY_SECONDS + 5) * 1000);
  let response: Response;
  let text: string;
  try {
    response = await fetch(`http://127.0.0.1:${HEALTHZ_PORT}/applied`, {
      method: "POST",
      body: query,
      signal: AbortSignal.any([limit, process.ended]),
    });
    text = await response.text();
  } catch (error) {
    throw new WorldError(
      process.ended.aborted ? `the controller ended: ${process.tail()}` : `no answer to /applied: ${(error as Error).message}`,
    );
  }
  if (response.status !== 200) throw new WorldError(`the change was not applied (${response.status}): ${text.slice(0, 1500)}`);
}

export function createControllerWorld({ controller, folder, flags: base, store }: ControllerWorldOptions): World {
  let flags: readonly string[] = [];
  let running: ControllerProcess | undefined;

  async function stop(): Promise<void> {
    const process = running;
    running = undefined;
    await process?.stop();
  }
  return {
    accessLog: join(folder, "logs", "access.log"),
    confFile: join(folder, "run", "private", "nginx.conf"),
    get proxy() {
      return { address: "127.0.0.1", ports: { http: portFlag(flags, "http-port", 80), https: portFlag(flags, "https-port", 443) } };
    },
    obituary: () => (running?.ended.aborted === true ? running.tail() : undefined),
    useFlags: async (wanted) => {
      if (JSON.stringify(wanted) === JSON.stringify(flags)) return;
      await stop();
      flags = wanted;
    },
    put: async (objects, fresh) => {
      const change = await store.replace(objects, fresh);
      if (running !== undefined && !running.ended.aborted) {
        if (change.changed.length === 0 && change.gone.length === 0) return;
        return waitApplied(change, running);
      }
      // After a crash its nginx may still be there.
      await stop();
      running = await startController({ program: controller, folder, flags: [...base, ...flags] });
      return waitApplied({ changed: store.all(), gone: change.gone }, running);
    },
    stop,
  };
}
