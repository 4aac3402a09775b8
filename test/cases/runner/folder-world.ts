// The world of --source=folder: one manifest file, replaced whole, and a controller that watches its folder.
import { join } from "node:path";
import { DNS_ADDRESS, DNS_PORT } from "../../kit/fixtures/catalog";
import { createControllerWorld } from "./controller-world";
import { createManifestFile } from "./manifest-file";
import type { World } from "./world";

export const SETTINGS_NAME = "sluice-config";

/** Of every source. */
export const worldFlags: readonly string[] = [`--configmap=default/${SETTINGS_NAME}`, `--nameservers=${DNS_ADDRESS}:${DNS_PORT}`];

export interface FolderWorldOptions {
  readonly controller: string;
  /** Has manifests/ and logs/ inside. */
  readonly folder: string;
  /** Keys of the objects that outlive a case. */
  readonly permanent: ReadonlySet<string>;
}

export function createFolderWorld(options: FolderWorldOptions): World {
  const folder = join(options.folder, "manifests");
  const manifests = createManifestFile(folder, options.permanent);
  return createControllerWorld({
    controller: options.controller,
    folder: options.folder,
    flags: [`--manifests=${folder}`, ...worldFlags],
    store: manifests,
  });
}
