// The world of --source=folder: one manifest file, replaced whole, and a controller that watches its folder.
import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DNS_ADDRESS, DNS_PORT } from "../../kit/fixtures/catalog";
import type { KubeObject } from "../../kit/fixtures/objects";
import { type ControllerProcess, HEALTHZ_PORT, startController } from "./controller";
import { type Identity, keyOf, keyText, newIdentity, normalise } from "./kube-object";
import { type World, WorldError } from "./world";

export const SETTINGS_NAME = "sluice-config";
const APPLY_SECONDS = 15;

interface Stored {
  readonly identity: Identity;
  readonly content: string;
  readonly version: number;
  readonly object: KubeObject;
}

export interface FolderWorldOptions {
  readonly controller: string;
  readonly folder: string;
  /** Keys of the objects that outlive a case. */
  readonly permanent: ReadonlySet<string>;
}

function portFlag(flags: readonly string[], name: string, otherwise: number): number {
  const found = flags.findLast((flag) => flag.startsWith(`--${name}=`));
  return found === undefined ? otherwise : Number(found.slice(name.length + 3));
}

async function waitApplied(changed: readonly Stored[], gone: readonly string[], process: ControllerProcess): Promise<void> {
  const query = new URLSearchParams({ timeout: `${APPLY_SECONDS}s` });
  for (const { object, version } of changed) query.append("object", `${keyText(keyOf(object))}@${version}`);
  for (const key of gone) query.append("gone", key);
  let response: Response;
  try {
    response = await fetch(`http://127.0.0.1:${HEALTHZ_PORT}/applied`, {
      method: "POST",
      body: query,
      signal: AbortSignal.any([AbortSignal.timeout((APPLY_SECONDS + 5) * 1000), process.ended]),
    });
  } catch (error) {
    throw new WorldError(
      process.ended.aborted ? `the controller ended: ${process.tail()}` : `no answer to /applied: ${(error as Error).message}`,
    );
  }
  const text = await response.text();
  if (response.status !== 200) throw new WorldError(`the change was not applied (${response.status}): ${text.slice(0, 500)}`);
}

export function createFolderWorld(options: FolderWorldOptions): World {
  const manifests = join(options.folder, "manifests");
  const logs = join(options.folder, "logs");
  let stored = new Map<string, Stored>();
  let version = 1;
  let flags: readonly string[] = [];
  let running: ControllerProcess | undefined;

  function write(): void {
    const items = [...stored.values()].map(({ object, identity, version: resourceVersion }) => ({
      ...object,
      metadata: { ...object.metadata, ...identity, generation: 1, resourceVersion: String(resourceVersion) },
    }));
    const draft = join(manifests, ".objects.json");
    writeFileSync(draft, JSON.stringify({ apiVersion: "v1", kind: "List", items }));
    renameSync(draft, join(manifests, "objects.json"));
  }

  function replace(
    objects: readonly KubeObject[],
    fresh: boolean,
  ): { readonly changed: readonly Stored[]; readonly gone: readonly string[] } {
    const next = new Map<string, Stored>();
    const changed: Stored[] = [];
    for (const object of objects.map(normalise)) {
      const key = keyText(keyOf(object));
      const content = JSON.stringify(object);
      const before = fresh && !options.permanent.has(key) ? undefined : stored.get(key);
      if (before?.content === content) {
        next.set(key, before);
        continue;
      }
      const now = { identity: before?.identity ?? newIdentity(), content, version: ++version, object };
      next.set(key, now);
      changed.push(now);
    }
    const gone = [...stored.keys()].filter((key) => !next.has(key));
    stored = next;
    return { changed, gone };
  }

  const stop = async (): Promise<void> => {
    const process = running;
    running = undefined;
    await process?.stop();
  };
  return {
    accessLog: join(logs, "access.log"),
    get proxy() {
      return { address: "127.0.0.1", ports: { http: portFlag(flags, "http-port", 80), https: portFlag(flags, "https-port", 443) } };
    },
    useFlags: async (wanted) => {
      if (JSON.stringify(wanted) === JSON.stringify(flags)) return;
      await stop();
      flags = wanted;
    },
    put: async (objects, fresh) => {
      const { changed, gone } = replace(objects, fresh);
      const started = running === undefined || running.ended.aborted;
      if (changed.length > 0 || gone.length > 0 || started) write();
      if (started) {
        running = await startController({
          program: options.controller,
          folder: options.folder,
          flags: [`--manifests=${manifests}`, `--configmap=default/${SETTINGS_NAME}`, `--nameservers=${DNS_ADDRESS}:${DNS_PORT}`, ...flags],
        });
      }
      await waitApplied(started ? [...stored.values()] : changed, gone, running!);
    },
    stop,
  };
}
