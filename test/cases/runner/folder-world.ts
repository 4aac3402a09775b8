// The world of --source=folder: one manifest file, replaced whole, and a controller that watches its folder.
import { join } from "node:path";
import { DNS_ADDRESS, DNS_PORT } from "../../kit/fixtures/catalog";
import { type ControllerProcess, HEALTHZ_PORT, startController } from "./controller";
import { createManifestFile, type ManifestChange } from "./manifest-file";
import { type World, WorldError } from "./world";

export const SETTINGS_NAME = "sluice-config";
const APPLY_SECONDS = 15;

export interface FolderWorldOptions {
  readonly controller: string;
  /** Has manifests/ and logs/ inside. */
  readonly folder: string;
  /** Keys of the objects that outlive a case. */
  readonly permanent: ReadonlySet<string>;
}

function portFlag(flags: readonly string[], name: string, otherwise: number): number {
  const found = flags.findLast((flag) => flag.startsWith(`--${name}=`));
  return found === undefined ? otherwise : Number(found.slice(name.length + 3));
}

async function waitApplied(change: ManifestChange, process: ControllerProcess): Promise<void> {
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
  if (response.status !== 200) throw new WorldError(`the change was not applied (${response.status}): ${text.slice(0, 500)}`);
}

export function createFolderWorld(options: FolderWorldOptions): World {
  const folder = join(options.folder, "manifests");
  const manifests = createManifestFile(folder, options.permanent);
  const base = [`--manifests=${folder}`, `--configmap=default/${SETTINGS_NAME}`, `--nameservers=${DNS_ADDRESS}:${DNS_PORT}`];
  let flags: readonly string[] = [];
  let running: ControllerProcess | undefined;

  async function stop(): Promise<void> {
    const process = running;
    running = undefined;
    await process?.stop();
  }
  return {
    accessLog: join(options.folder, "logs", "access.log"),
    confFile: join(options.folder, "run", "private", "nginx.conf"),
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
      const change = manifests.replace(objects, fresh);
      if (running !== undefined && !running.ended.aborted) {
        if (change.changed.length === 0 && change.gone.length === 0) return;
        manifests.write();
        return waitApplied(change, running);
      }
      // After a crash its nginx may still be there.
      await stop();
      manifests.write();
      running = await startController({ program: options.controller, folder: options.folder, flags: [...base, ...flags] });
      return waitApplied({ changed: manifests.all(), gone: change.gone }, running);
    },
    stop,
  };
}
