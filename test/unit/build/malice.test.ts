import { resolve } from "node:path";
import { expect, test } from "vitest";
import { Admitter } from "../../../control/admission/admit.ts";
import { answerReview } from "../../../control/admission/review.ts";
import { renderConf } from "../../../control/apply/render.ts";
import { build } from "../../../control/build/build.ts";
import type { Row } from "../../../control/catalog/feature.ts";
import { allStatements, readNginxText } from "../../../control/catalog/nginx-text.ts";
import { features } from "../../../control/features/index.ts";
import { confView } from "../../../control/plan/conf.ts";
import { documentsOf, generalOf } from "../../../control/plan/documents.ts";
import { partsOf } from "../../../control/plan/plan.ts";
import { createLogger } from "../../../control/run/logger.ts";
import type { Ingress } from "../../../control/source/kinds.ts";
import { annotationPrefix as prefix } from "../../kit/build-input.ts";
import { injected, nastyJson, nastyText, seeded } from "../../kit/nasty.ts";
import { reviewBody } from "../../kit/webhook.ts";
import { admissionContext, ingress } from "../admission/objects.ts";
import { surroundingsOfTest } from "../settings/surroundings.ts";

const rows = features.flatMap((feature) => Object.entries(feature.rows as Readonly<Record<string, Row<unknown>>>));
/** All but what is nginx's own language by intent. */
const settings = { "annotations-risk-level": "Critical", "allow-cross-namespace-resources": "true", "strict-validate-path-type": "false" };

/** Annotations that turn on what others only adjust. */
const switches: readonly Readonly<Record<string, string>>[] = [
  {},
  { "enable-cors": "true" },
  { "auth-url": "http://auth.test/" },
  { "auth-type": "basic", "auth-secret": "users" },
  { canary: "true" },
  { affinity: "cookie" },
  { "backend-protocol": "HTTPS" },
  { "backend-protocol": "FCGI" },
  { "use-regex": "true", "rewrite-target": "/$1" },
  { "mirror-target": "http://mirror.test" },
  { "enable-modsecurity": "true" },
];

function annotated(random: () => number, [name, row]: (typeof rows)[number], number: number): Ingress {
  const example = row.kind.examples[0] ?? "x";
  const own = { ...switches[(number % 1000) % switches.length], [name]: nastyText(random, example) };
  const annotations = Object.fromEntries(Object.entries(own).map(([key, value]) => [`${prefix}/${key}`, value]));
  return ingress({ name: `i-${number}`, host: `h${number}.test`, annotations });
}

function placed(random: () => number, number: number): Ingress {
  const at = (example: string) => (random() < 0.5 ? nastyText(random, example) : example);
  const backend = { service: { name: at("echo"), port: random() < 0.5 ? { number: 80 } : { name: at("http") } } };
  const pathType = (["Exact", "Prefix", "ImplementationSpecific"] as const)[number % 3];
  const rules = [{ host: at(`p${number}.test`), http: { paths: [{ path: at("/a"), pathType, backend }] } }];
  const tls = [{ hosts: [at(`p${number}.test`)], secretName: at("cert") }];
  const regex: Readonly<Record<string, string>> = { [`${prefix}/use-regex`]: "true", [`${prefix}/rewrite-target`]: "/$1" };
  const annotations = number % 2 === 0 ? regex : {};
  return ingress({ name: `p-${number}`, annotations, spec: { rules, tls } });
}

/** What stands in nginx.conf is tried with each switch. */
const text = [
  ...((random) =>
    rows.flatMap((row, i) => {
      const values = row[1].applies === "profile" ? 4 * switches.length : switches.length;
      return Array.from({ length: values }, (_, n) => annotated(random, row, i * 1000 + n));
    }))(seeded(1)),
  ...((random) => Array.from({ length: 600 }, (_, n) => placed(random, n)))(seeded(2)),
];

test("whatever an Ingress says, it is built, and nothing of it becomes nginx's language", () => {
  for (const validate of [true, false]) {
    const options = { annotations: { prefix, validate, deepInspect: validate } };
    const { objects, lastGood, options: all } = admissionContext(text, settings, options);
    const built = build(objects, lastGood, all);
    expect(built.accepted.length).toBeGreaterThan(200);
    documentsOf(
      built.model,
      generalOf(built.basis, { httpsPort: 443, healthPath: "/healthz", passthrough: false, spanSocket: "" }, built.model.patterns),
      () => [],
    );
    const parts = partsOf(built.model);
    expect(parts.profiles.size).toBeGreaterThan(20);
    const conf = renderConf(confView(built.basis, parts, surroundingsOfTest()), resolve(process.env.SLUICE_ROOT!, "nginx")).text;
    const read = readNginxText(conf);
    if (!read.ok) throw new Error(read.reason);
    expect(allStatements(read.statements).filter(({ words }) => words[0]?.includes(injected))).toEqual([]);
    expect(conf).not.toMatch(/[\0-\x08\x0b-\x1f\x7f]/);
    const lines = conf.split("\n").filter((line) => line.includes(injected));
    // Only inside one quoted word.
    for (const line of lines) expect(line).toMatch(/^\s*[a-z_]+ .*"[^"]*zq_injected.*";$/);
  }
});

test("whatever is asked of the webhook is answered", async () => {
  const random = seeded(3);
  const context = admissionContext([ingress({ name: "first", host: "h1.test", age: 10 })], settings);
  const admitter = new Admitter({
    context: () => context,
    ask: async () => ({ kind: "untested", why: "no nginx" }),
    trialDir: "/t",
    logger: createLogger(0, { write: () => undefined }),
  });
  const check = (candidate: Ingress) => admitter.verdictOn(candidate);
  const seen = { allowed: 0, refused: 0, other: 0 };
  const answered = async (body: string) => {
    const { status, body: answer } = await answerReview(body, check);
    expect([200, 400, 500]).toContain(status);
    if (status !== 200) seen.other += 1;
    else if ((JSON.parse(answer) as { response: { allowed: boolean } }).response.allowed) seen.allowed += 1;
    else seen.refused += 1;
  };
  const raw = ({ metadata, spec }: Ingress) => ({
    apiVersion: "networking.k8s.io/v1",
    kind: "Ingress",
    metadata,
    spec: { ingressClassName: "nginx", rules: spec.rules.map((r) => ({ host: r.host, http: { paths: r.paths } })), tls: spec.tls },
  });
  for (const candidate of text.filter((_, i) => i % 3 === 0)) await answered(reviewBody(raw(candidate)));
  const sample = JSON.parse(reviewBody(raw(ingress({ annotations: { [`${prefix}/enable-cors`]: "true" } })))) as unknown;
  for (let i = 0; i < 1500; i += 1) await answered(JSON.stringify(nastyJson(random, sample)) ?? "");
  expect(Object.values(seen).every((count) => count > 100)).toBe(true);
  expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
});
