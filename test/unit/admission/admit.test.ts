import { expect, test } from "vitest";
import { Admitter, type AskNginx } from "../../../control/admission/admit.ts";
import type { TrialAnswer } from "../../../control/apply/trial.ts";
import { createLogger } from "../../../control/run/logger.ts";
import { annotationPrefix as prefix } from "../../kit/build-input.ts";
import { admissionContext, ingress } from "./objects.ts";

const snippets = { "allow-snippet-annotations": "true", "annotations-risk-level": "Critical" };

function admitter(
  answer: (keys: readonly string[], expressions: readonly string[]) => TrialAnswer,
  data: Readonly<Record<string, string>> = snippets,
) {
  const asked: (readonly string[])[] = [];
  const state = { context: admissionContext([], data) };
  const ask: AskNginx = async ({ profiles, servers, streams }, expressions) => {
    const keys = [...profiles.keys(), ...servers.keys(), ...streams.keys()];
    asked.push([...keys, ...expressions]);
    return answer(keys, expressions);
  };
  const logger = createLogger(0, { write: () => undefined });
  const made = new Admitter({ context: () => state.context, ask, trialDir: "/t", logger });
  const verdict = async (annotations: Readonly<Record<string, string>>, path = "/") => {
    const prefixed = Object.entries(annotations).map(([key, value]) => [`${prefix}/${key}`, value]);
    const pathType = path === "/" ? "Prefix" : "ImplementationSpecific";
    return await made.verdictOn(ingress({ annotations: Object.fromEntries(prefixed), path, pathType }));
  };
  return { verdict, asked, state };
}

const takesAll = (): TrialAnswer => ({ kind: "tested", refused: new Map(), expressions: new Map() });
const refusesAll =
  (reason: string) =>
  (keys: readonly string[]): TrialAnswer => ({ kind: "tested", refused: new Map(keys.map((k) => [k, reason])), expressions: new Map() });

test("nginx is not asked about what needs nothing of its configuration, nor about what is always there", async () => {
  const { verdict, asked } = admitter(takesAll);
  await verdict({});
  await verdict({ "proxy-read-timeout": "5", "enable-cors": "true", "proxy-buffering": "on" });
  expect(asked).toEqual([]);
});

test("the same text is asked about once; under other settings again", async () => {
  const { verdict, asked, state } = admitter(takesAll);
  const annotations = { "configuration-snippet": "add_header A b;" };
  for (let i = 0; i < 3; i += 1) expect((await verdict(annotations)).refusal).toBeUndefined();
  expect(asked).toHaveLength(1);
  await verdict({ "configuration-snippet": "add_header A c;" });
  expect(asked).toHaveLength(2);
  state.context = admissionContext([], { ...snippets, "proxy-body-size": "7m" });
  await verdict(annotations);
  expect(asked).toHaveLength(3);
});

test("what nginx refuses is refused with the annotation's name, each time", async () => {
  const { verdict, asked } = admitter((keys) => ({
    kind: "tested",
    refused: new Map(keys.filter((k) => k.startsWith("server ")).map((k) => [k, 'unknown directive "foo" in nginx.conf:12'])),
    expressions: new Map(),
  }));
  for (let i = 0; i < 2; i += 1) {
    expect((await verdict({ "server-snippet": "add_header A b;" })).refusal).toBe(
      `annotation ${prefix}/server-snippet: nginx refuses what this Ingress asks for: unknown directive "foo"`,
    );
  }
  expect(asked).toHaveLength(2);
});

test("the annotation of a typed value is the one whose directive nginx names", async () => {
  const { verdict } = admitter(refusesAll('"proxy_buffers" and "x" do not go together'), {});
  const { refusal } = await verdict({ "proxy-buffering": "on", "proxy-buffers-number": "7" });
  expect(refusal).toContain(`annotation ${prefix}/proxy-buffers-number: nginx refuses`);
});

test("what PCRE cannot read is refused with its place, each time; what it can is asked about once", async () => {
  const { verdict, asked } = admitter((_, expressions) => ({
    kind: "tested",
    refused: new Map(),
    expressions: new Map(expressions.filter((text) => text.endsWith("(")).map((text) => [text, "missing )"])),
  }));
  const regex = { "use-regex": "true" };
  for (let i = 0; i < 2; i += 1) {
    expect((await verdict(regex, "/a(")).refusal).toBe("path /a( is no regular expression: missing )");
    expect((await verdict({ ...regex, "rewrite-target": "/$1" }, "/(b|c)")).refusal).toBeUndefined();
    expect((await verdict({ "server-alias": "~^www[0-9]\\.test$" })).refusal).toBeUndefined();
  }
  expect(asked).toEqual([["/a("], ["/(b|c)"], ["^www[0-9]\\.test$"], ["/a("]]);
});

test("what was not tested is admitted, and asked about the next time", async () => {
  const { verdict, asked } = admitter(() => ({ kind: "untested", why: "busy" }));
  for (let i = 0; i < 2; i += 1) expect((await verdict({ "configuration-snippet": "add_header A b;" })).refusal).toBeUndefined();
  expect(asked).toHaveLength(2);
});

test("where snippets are not allowed their text never reaches nginx", async () => {
  const settings: Readonly<Record<string, string>>[] = [
    {},
    { "allow-snippet-annotations": "true" },
    { "annotations-risk-level": "Critical" },
  ];
  for (const data of settings) {
    const { verdict, asked } = admitter(takesAll, data);
    for (const name of ["configuration-snippet", "server-snippet", "stream-snippet", "auth-snippet", "modsecurity-snippet"]) {
      expect((await verdict({ [name]: "add_header A b;" })).refusal).toBeDefined();
    }
    expect(asked).toEqual([]);
  }
});
