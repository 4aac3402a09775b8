import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { TestResult } from "../../../control/apply/nginx.ts";
import type { Running } from "../../../control/apply/tester.ts";
import { Trial, type TrialAnswer } from "../../../control/apply/trial.ts";
import { defaultSettings } from "../../../control/catalog/settings.ts";
import type { ConfBasis } from "../../../control/model/conf-basis.ts";
import { noStreams } from "../../../control/model/stream.ts";
import { builtInParts, type ConfParts } from "../../../control/plan/plan.ts";

let folder: string;
/** Confs that were tested, as names of what is in them. */
let tested: string[];
let open: (() => void)[];
let held: boolean;

beforeEach(() => {
  folder = join(mkdtempSync(join(tmpdir(), "sluice-trial-")), "trial");
  tested = [];
  open = [];
  held = false;
});

afterEach(() => rmSync(join(folder, ".."), { recursive: true }));

const basis = { settings: defaultSettings, requestHeaders: [], responseHeaders: [], streams: noStreams };

function streams(...names: string[]): ConfParts {
  return { profiles: new Map(), servers: new Map(), streams: new Map(names.map((name) => [name, name])) };
}

function trial(refuses: (conf: string) => string | undefined, running: ConfParts | undefined = streams("theirs"), soon?: ConfBasis): Trial {
  const parts = running === undefined ? undefined : { ...running, profiles: builtInParts.profiles };
  return new Trial({
    folder,
    running: () => (parts === undefined ? undefined : ({ basis, parts } as unknown as Running)),
    wanted: () => soon,
    render: ({ settings }, { streams: wanted }) => {
      const text = [...(settings === defaultSettings ? [] : ["soon"]), ...wanted.keys()].join();
      return { text, hash: text };
    },
    test: async (file, timeout): Promise<TestResult> => {
      const text = readFileSync(file, "utf8");
      tested.push(text);
      if (held) await new Promise<void>((resolve) => open.push(resolve));
      const reason = refuses(text);
      if (reason === "slow") return { ok: false, text: "", tooSlow: true };
      expect(timeout).toBeLessThanOrEqual(4000);
      return reason === undefined ? { ok: true } : { ok: false, text: `${reason} in ${file}:7` };
    },
    expressions: async (list) => new Map(list.filter((text) => text.includes("(")).map((text) => [text, "missing )"])),
  });
}

test("what is running is not tested again, what is new is tested alone", async () => {
  const one = trial(() => undefined);
  expect(await one.of(streams("theirs"))).toEqual({ kind: "tested", refused: new Map(), expressions: new Map() });
  expect(tested).toEqual([]);
  expect(await one.of(streams("theirs", "mine"))).toEqual({ kind: "tested", refused: new Map(), expressions: new Map() });
  expect(tested).toEqual(["mine"]);
});

test("what is refused alone and beside all that is running is refused, in nginx's words, and those beside it are not", async () => {
  const one = trial((conf) => (conf.includes("bad") ? "no" : undefined));
  const answer = await one.of(streams("good", "bad"));
  expect(answer).toEqual({ kind: "tested", refused: new Map([["bad", "no in nginx.conf:7"]]), expressions: new Map() });
  const before = tested.length;
  expect(await one.of(streams("good", "bad"))).toEqual(answer);
  expect(tested.slice(before).filter((conf) => conf.includes("bad"))).toEqual([]);
});

test("what only lacks something that others bring is taken", async () => {
  const one = trial((conf) => (conf.includes("theirs") ? undefined : "unknown variable"));
  expect(await one.of(streams("mine"))).toEqual({ kind: "tested", refused: new Map(), expressions: new Map() });
  expect(tested).toEqual(["mine", "theirs,mine"]);
});

test("what only lacks a setting that waits for its reload is taken", async () => {
  const soon = { ...basis, settings: { ...defaultSettings } };
  const one = trial((conf) => (conf.includes("soon") ? undefined : "zero size shared memory zone"), streams("theirs"), soon);
  expect(await one.of(streams("mine"))).toEqual({ kind: "tested", refused: new Map(), expressions: new Map() });
  expect(tested).toEqual(["mine", "theirs,mine", "soon,mine"]);
});

test("regular expressions are read by PCRE, and nothing is asked about none", async () => {
  const { refused, expressions } = (await trial(() => undefined).of(streams("theirs"), ["a", "b("])) as Extract<
    TrialAnswer,
    { kind: "tested" }
  >;
  expect([refused.size, [...expressions]]).toEqual([0, [["b(", "missing )"]]]);
});

test("a test that takes too long, or an nginx that does not run yet, refuses nobody", async () => {
  expect(await trial(() => "slow").of(streams("mine"))).toMatchObject({ kind: "untested" });
  const stopped = new Trial({
    folder,
    running: () => undefined,
    wanted: () => undefined,
    render: () => expect.fail(),
    test: () => expect.fail(),
    expressions: () => expect.fail(),
  });
  expect(await stopped.of(streams("mine"))).toMatchObject({ kind: "untested" });
});

test("one at a time; a queue that is too long is not joined", async () => {
  held = true;
  const one = trial(() => undefined);
  const answers = Array.from({ length: 17 }, (_, i) => one.of(streams(`s${i}`)));
  expect(await answers[16]).toMatchObject({ kind: "untested" });
  await expect.poll(() => open.length).toBe(1);
  expect(tested).toEqual(["s0"]);
  held = false;
  open[0]?.();
  await Promise.all(answers);
  expect(tested).toHaveLength(16);
});

test("nothing is left in the folder, nor of a test that was cut short before", async () => {
  await trial((conf) => (conf === "bad" ? "no" : undefined)).of(streams("bad"));
  expect(existsSync(folder)).toBe(false);
});
