/** Fetches GeoIP databases (EDITION.tar.gz, which holds EDITION.mmdb) from MaxMind or a mirror into a folder. */

import { constants, createWriteStream } from "node:fs";
import { access, mkdir, open, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { setTimeout as pause } from "node:timers/promises";
import { createGunzip } from "node:zlib";
import got, { HTTPError } from "got";
import { tarMember } from "./tar-member.ts";

export interface GeoDownload {
  /** URL; empty: MaxMind's own service, with the licence key. */
  readonly mirror: string;
  readonly licenseKey: string;
  readonly editions: readonly string[];
  /** At least one is made. */
  readonly tries: number;
  /** Milliseconds between tries. */
  readonly pause: number;
  /** The first one that can be written to is used. */
  readonly folders: readonly string[];
  readonly signal: AbortSignal;
  /** After each edition; `problem` where it is not to be had. */
  readonly onDone: (edition: string, problem: string | undefined) => void;
}

/** One edition after the other. Never rejects. */
export async function downloadDatabases(wanted: GeoDownload): Promise<void> {
  const folder = await writableFolder(wanted.folders);
  for (const edition of wanted.editions) {
    const problem = folder === undefined ? `cannot write to ${wanted.folders.join(" or ")}` : await tryDownload(wanted, edition, folder);
    if (wanted.signal.aborted) return;
    wanted.onDone(edition, problem);
  }
}

async function tryDownload(wanted: GeoDownload, edition: string, folder: string): Promise<string | undefined> {
  for (let left = wanted.tries; ; left--) {
    try {
      await download(urlOf(wanted, edition), edition, folder, wanted.signal);
      return undefined;
    } catch (error) {
      if (left <= 1 || wanted.signal.aborted) return reasonOf(error, wanted);
    }
    await pause(wanted.pause, undefined, { signal: wanted.signal }).catch(() => undefined);
  }
}

function urlOf({ mirror, licenseKey }: GeoDownload, edition: string): string {
  if (mirror !== "") return `${mirror.replace(/\/$/, "")}/${edition}.tar.gz`;
  const key = encodeURIComponent(licenseKey);
  return `https://download.maxmind.com/app/geoip_download?license_key=${key}&edition_id=${edition}&suffix=tar.gz`;
}

/** The URL holds the licence key, and error messages may hold the URL. */
function reasonOf(error: unknown, { licenseKey }: GeoDownload): string {
  if (error instanceof HTTPError) return `the server answered ${error.response.statusCode}`;
  const text = error instanceof Error ? error.message : String(error);
  return licenseKey === "" ? text : text.replaceAll(encodeURIComponent(licenseKey), "…").replaceAll(licenseKey, "…");
}

async function download(url: string, edition: string, folder: string, signal: AbortSignal): Promise<void> {
  const file = join(folder, `${edition}.mmdb`);
  const draft = `${file}.new`;
  try {
    const answer = got.stream(url, { retry: { limit: 0 }, signal, timeout: { connect: 10_000, response: 60_000, socket: 60_000 } });
    const extract = (source: AsyncIterable<Buffer>) => tarMember(source, `${edition}.mmdb`);
    await pipeline(answer, createGunzip(), extract, createWriteStream(draft, { mode: 0o644 }));
    if (!(await isDatabase(draft))) throw new Error(`the archive holds no database ${edition}.mmdb`);
    await rename(draft, file);
  } finally {
    await rm(draft, { force: true });
  }
}

const tail = 128 * 1024;

/** The format has its mark near the end. */
async function isDatabase(path: string): Promise<boolean> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    const { buffer, bytesRead } = await file.read(Buffer.alloc(tail), 0, tail, Math.max(0, size - tail));
    return buffer.subarray(0, bytesRead).includes(Buffer.from("\xab\xcd\xefMaxMind.com", "latin1"));
  } finally {
    await file.close();
  }
}

async function writableFolder(folders: readonly string[]): Promise<string | undefined> {
  for (const folder of folders) {
    try {
      await mkdir(folder, { recursive: true, mode: 0o755 });
      await access(folder, constants.W_OK);
      return folder;
    } catch {
      // the next one
    }
  }
  return undefined;
}
