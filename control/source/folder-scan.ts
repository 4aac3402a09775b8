/** What is in a folder of manifests, without reading the files. */

import { type BigIntStats, type Dirent, promises as fs } from "node:fs";
import { join } from "node:path";

/** Identity of a file's content as the file system knows it: device, inode, size and modification time. */
export interface Look {
  readonly stamp: string;
  /** Milliseconds since the epoch. */
  readonly mtime: number;
}

export interface Scan {
  /** By path relative to the root, sorted. */
  readonly files: ReadonlyMap<string, Look>;
  /** Folders seen: absolute path → identity, which differs when the folder was made anew. */
  readonly folders: ReadonlyMap<string, string>;
  /** By path relative to the root ("" is the root): why it cannot be listed. */
  readonly unreadable: ReadonlyMap<string, string>;
}

interface Walk {
  readonly root: string;
  readonly files: [string, Look][];
  readonly folders: Map<string, string>;
  readonly unreadable: Map<string, string>;
}

/** All manifests below root. Names that begin with "." are skipped, as are files that are neither .yaml, .yml nor .json. */
export async function scanFolder(root: string): Promise<Scan> {
  const walk: Walk = { root, files: [], folders: new Map(), unreadable: new Map() };
  await visit(walk, "", []);
  walk.files.sort(([a], [b]) => (a < b ? -1 : 1));
  return { files: new Map(walk.files), folders: walk.folders, unreadable: walk.unreadable };
}

export function isManifest(name: string): boolean {
  return !name.startsWith(".") && /\.(ya?ml|json)$/.test(name);
}

/** Undefined when there is no such regular file; throws when that cannot be told. */
export async function lookAt(path: string): Promise<Look | undefined> {
  const stats = await statOf(path);
  return stats?.isFile() ? lookOf(stats) : undefined;
}

/** above: identities of the folders on the way, so that a symbolic link to one of them ends there. */
async function visit(walk: Walk, relative: string, above: readonly string[]): Promise<void> {
  const path = join(walk.root, relative);
  try {
    const stats = await statOf(path);
    if (stats === undefined && relative === "") walk.unreadable.set("", "there is no such folder");
    if (stats === undefined) return;
    // Inode numbers are used again at once, so the time of birth belongs to it.
    const identity = `${stats.dev}:${stats.ino}:${stats.birthtimeNs}`;
    if (above.includes(identity)) return;
    const entries = await fs.readdir(path, { withFileTypes: true });
    walk.folders.set(path, identity);
    for (const entry of entries) {
      if (!entry.name.startsWith("."))
        await visitEntry(walk, relative === "" ? entry.name : `${relative}/${entry.name}`, entry, [...above, identity]);
    }
  } catch (error) {
    if (!isGone(error)) walk.unreadable.set(relative, (error as Error).message);
  }
}

async function visitEntry(walk: Walk, child: string, entry: Dirent, above: readonly string[]): Promise<void> {
  const path = join(walk.root, child);
  try {
    const target = entry.isSymbolicLink() ? await statOf(path) : entry;
    if (target?.isDirectory()) {
      await visit(walk, child, above);
    } else if (target?.isFile() && isManifest(entry.name)) {
      const look = await lookAt(path);
      if (look !== undefined) walk.files.push([child, look]);
    }
  } catch (error) {
    walk.unreadable.set(child, (error as Error).message);
  }
}

async function statOf(path: string): Promise<BigIntStats | undefined> {
  try {
    return await fs.stat(path, { bigint: true });
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  }
}

/** Gone between two calls, or a symbolic link to nowhere. */
function isGone(error: unknown): boolean {
  return ["ENOENT", "ENOTDIR", "ELOOP"].includes((error as NodeJS.ErrnoException).code ?? "");
}

function lookOf(stats: BigIntStats): Look {
  return { stamp: `${stats.dev}:${stats.ino}:${stats.size}:${stats.mtimeNs}`, mtime: Number(stats.mtimeMs) };
}
