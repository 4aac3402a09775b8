/** Text of a manifest file → its documents as plain values. */

import { LineCounter, parseAllDocuments } from "yaml";

export type ManifestText =
  | { readonly kind: "documents"; readonly documents: readonly ManifestDocument[] }
  | { readonly kind: "unreadable"; readonly at: string; readonly text: string };

export interface ManifestDocument {
  readonly value: unknown;
  /** "line 12"; empty for JSON. */
  readonly at: string;
}

/** Enough for honest anchors, too little for a document that multiplies itself. */
const maxAliasCount = 100;

/** JSON by the file's name, everything else is YAML (1.2 core, merge keys, unique keys, no tags of its own). */
export function readManifestText(name: string, text: string): ManifestText {
  const body = text.startsWith("\uFEFF") ? text.slice(1) : text;
  return name.endsWith(".json") ? readJson(body) : readYaml(body);
}

function readJson(text: string): ManifestText {
  if (text.trim() === "") return { kind: "documents", documents: [] };
  try {
    return { kind: "documents", documents: [{ value: JSON.parse(text), at: "" }] };
  } catch (error) {
    const message = (error as Error).message;
    const position = /at position (\d+)/.exec(message)?.[1];
    const at = position === undefined ? lineAndColumn(text, text.length) : lineAndColumn(text, Number(position));
    return { kind: "unreadable", at, text: `is not JSON: ${message.replaceAll(/\s+/g, " ")}` };
  }
}

function readYaml(text: string): ManifestText {
  const lines = new LineCounter();
  const parsed = parseAllDocuments(text, {
    lineCounter: lines,
    version: "1.2",
    schema: "core",
    merge: true,
    uniqueKeys: true,
    stringKeys: true,
    resolveKnownTags: false,
    customTags: null,
    prettyErrors: false,
  });
  const documents: ManifestDocument[] = [];
  for (const document of parsed) {
    // A tag that is not known here is a warning of the parser; its value would be read as something else than was meant.
    const problem = document.errors[0] ?? document.warnings[0];
    if (problem !== undefined) return { kind: "unreadable", at: placeText(lines, problem.pos[0]), text: `is not YAML: ${problem.message}` };
    try {
      const at = `line ${lines.linePos(document.contents?.range?.[0] ?? 0).line}`;
      documents.push({ value: document.toJS({ maxAliasCount }), at });
    } catch (error) {
      return { kind: "unreadable", at: "", text: `is not YAML: ${(error as Error).message}` };
    }
  }
  return { kind: "documents", documents };
}

function placeText(lines: LineCounter, position: number): string {
  const { line, col } = lines.linePos(position);
  return `line ${line} column ${col}`;
}

function lineAndColumn(text: string, position: number): string {
  const before = text.slice(0, position);
  return `line ${before.split("\n").length} column ${position - before.lastIndexOf("\n")}`;
}
