/**
 * The chart suite: renders the chart with many values and checks what comes out; deploy/ must be what the chart renders.
 * usage: node build/run.mjs test/helm/main.ts [--write]   --write makes deploy/ current
 */

import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { countsText } from "../../build/outcome.ts";
import { type Check, checks } from "./checks.ts";
import { obstacle, type Rendered, render } from "./render.ts";
import { missingJobRights, missingRights, needlessRights } from "./rights.ts";
import { staticVariants, variants } from "./variants.ts";

const root = process.env.SLUICE_ROOT!;

const all: readonly Check[] = [
  ...checks,
  { name: "rights-of-the-controller", problems: missingRights },
  { name: "rights-of-the-jobs", problems: missingJobRights },
  { name: "needless-rights", problems: needlessRights },
];

const totals = { passed: 0, failed: 0, skipped: 0 };

function result(name: string, problems: readonly string[]): void {
  if (problems.length === 0) totals.passed += 1;
  else {
    totals.failed += 1;
    console.log(`FAILED ${name}\n${problems.map((problem) => `  ${problem}`).join("\n")}`);
  }
}

function attempt(body: () => readonly string[]): readonly string[] {
  try {
    return body();
  } catch (error) {
    return [(error as Error).message];
  }
}

function checkOne(rendered: Rendered): void {
  const { variant } = rendered;
  if (rendered.kind === "error" || variant.fails !== undefined) {
    const said = rendered.kind === "error" ? rendered.error : "it renders";
    result(`${variant.name}/renders`, variant.fails !== undefined && said.includes(variant.fails) ? [] : [said]);
    return;
  }
  const namespace = (variant.values.namespaceOverride as string | undefined) ?? variant.namespace;
  const release = { variant, manifests: rendered.manifests, namespace };
  for (const check of all)
    result(
      `${variant.name}/${check.name}`,
      attempt(() => check.problems(release)),
    );
}

/** The namespace first, then everything in the order of the templates, without what only Helm reads. */
function staticText(rendered: Rendered): string {
  if (rendered.kind === "error") throw new Error(rendered.error);
  const { namespace } = rendered.variant;
  const head = `# Rendered from charts/sluice by npm run manifests; put the name of your image in place of "sluice:…".\napiVersion: v1\nkind: Namespace\nmetadata:\n  name: ${namespace}`;
  const ofHelm = /^ +(helm\.sh\/.*|app\.kubernetes\.io\/managed-by: Helm)\n/gm;
  const texts = rendered.texts.map((text) =>
    text
      .replace(ofHelm, "")
      .replace(/^ +annotations:\n(?! {4})/gm, "")
      .replace(/\n(?=\n)/g, ""),
  );
  return `${[head, ...texts].join("\n---\n")}\n`;
}

function main(): void {
  const reason = obstacle();
  if (reason !== undefined) {
    console.log(`  1 × ${reason}\n${countsText({ ...totals, skipped: 1 })}`);
    return;
  }
  const statics = render(staticVariants);
  if (process.argv.includes("--write")) mkdirSync(resolve(root, "deploy"), { recursive: true });
  for (const rendered of [...render(variants), ...statics]) checkOne(rendered);
  for (const rendered of statics) {
    const file = resolve(root, "deploy", `${rendered.variant.name}.yaml`);
    const text = staticText(rendered);
    if (process.argv.includes("--write")) writeFileSync(file, text);
    const current = existsSync(file) && readFileSync(file, "utf8") === text;
    result(`deploy/${rendered.variant.name}.yaml`, current ? [] : ["is not what the chart renders: npm run manifests"]);
  }
  console.log(countsText(totals));
  process.exitCode = totals.failed > 0 ? 1 : 0;
}

main();
