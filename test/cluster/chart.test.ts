import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { render } from "../helm/render.ts";
import { variants } from "../helm/variants.ts";
import { World } from "./world.ts";

const world = new World();
/** Kinds of others, whose definitions are not in this cluster. */
const foreign = /^(monitoring\.coreos\.com|keda\.sh|cert-manager\.io)\//;

const namespaces = ["edge", "other", "shop"];

beforeAll(async () => {
  await world.start();
  for (const name of namespaces) await world.mustApply({ apiVersion: "v1", kind: "Namespace", metadata: { name } });
});

afterAll(async () => {
  await world.stop();
});

const rendered = render(variants).filter((one) => one.kind === "manifests");

test.each(rendered)("the chart with $variant.name is taken without a warning", async ({ variant, manifests }) => {
  const file = join(world.folder, `chart-${variant.name}.json`);
  const items = manifests.filter((one) => !foreign.test(one.apiVersion));
  writeFileSync(file, JSON.stringify({ apiVersion: "v1", kind: "List", items }));
  const { code, err } = await world.kubectl(["apply", "--dry-run=server", "--validate=strict", "--warnings-as-errors", "-f", file]);
  expect(err).toBe("");
  expect(code).toBe(0);
});
