import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readNginxText } from "../../control/catalog/nginx-text.ts";
import { findNginx } from "../../control/run/nginx-install.ts";
import { seeded } from "../kit/nasty.ts";

let dir: string;

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), "sluice-nginx-text-"));
});

afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** nginx's first complaint; undefined: it takes the texts, each in a location of its own. */
function complaint(texts: readonly string[]): Promise<string | undefined> {
  const locations = texts.map((text, i) => `location /${i} {\n${text}\n}`);
  const head = `pid ${dir}/pid; events {} http { access_log off; types_hash_max_size 65536;`;
  writeFileSync(join(dir, "conf"), `${head} server { listen unix:${dir}/sock;\n${locations.join("\n")}\n} }\n`);
  return new Promise((resolve) => {
    execFile(findNginx("", []).binary, ["-t", "-q", "-e", "stderr", "-p", dir, "-c", "conf"], (error, _out, words) =>
      resolve(error === null ? undefined : words),
    );
  });
}

// One directive that takes any words whatever they are; whatever else nginx sees in the text it does not know.
const bits = [
  "gzip_types ",
  "gzip_types a",
  "zq_injected on",
  "x/y",
  " ",
  "\n",
  "\r",
  "\t",
  ";",
  ";",
  "; ",
  "{",
  "}",
  "#",
  '"',
  "'",
  "\\",
  "$",
  "${",
  "${{",
  "\\$",
  '\\"',
  "\u00a0",
  "\u2028",
  "\ufeff",
  "é",
  ")",
  "(",
  "~",
];

function texts(seed: number, count: number): string[] {
  const random = seeded(seed);
  return Array.from({ length: count }, () => {
    const length = 1 + Math.floor(random() * 12);
    const middle = Array.from({ length }, () => bits[Math.floor(random() * bits.length)]).join("");
    return `gzip_types ${middle};`;
  });
}

function looksPlain(text: string): boolean {
  const read = readNginxText(text);
  return read.ok && read.statements.every(({ words, block }) => words[0] === "gzip_types" && words.length > 1 && block === undefined);
}

test("nginx splits a text into the same statements as the reader does", async () => {
  const plain = texts(5, 20_000).filter(looksPlain);
  expect(plain.length).toBeGreaterThan(1000);
  const search = async (some: readonly string[]): Promise<string[]> => {
    const words = await complaint(some);
    if (words === undefined) return [];
    if (some.length === 1) return [`${JSON.stringify(some[0])}: ${words}`];
    const half = some.length >> 1;
    return [...(await search(some.slice(0, half))), ...(await search(some.slice(half)))];
  };
  expect(await search(plain)).toEqual([]);
});
