import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { createManifestFile } from "../../cases/runner/manifest-file";
import type { KubeObject } from "../../kit/fixtures/objects";

const folder = mkdtempSync(join(tmpdir(), "manifest-file-"));
afterAll(() => rmSync(folder, { recursive: true }));

function configMap(name: string, data: Record<string, string>): KubeObject {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data };
}

function written(): Record<string, { uid: string; resourceVersion: string; namespace: string }> {
  const { items } = JSON.parse(readFileSync(join(folder, "objects.json"), "utf8")) as {
    items: { metadata: { name: string; uid: string; resourceVersion: string; namespace: string } }[];
  };
  return Object.fromEntries(items.map(({ metadata }) => [metadata.name, metadata]));
}

test("only what differs gets a new version, and what is left out is gone", async () => {
  const file = createManifestFile(folder, new Set(["ConfigMap/default/lasting"]));
  const first = await file.replace([configMap("lasting", {}), configMap("a", { x: "1" }), configMap("b", {})], true);
  expect(first.changed).toHaveLength(3);
  const before = written();

  const second = await file.replace([configMap("lasting", {}), configMap("a", { x: "2" })], false);
  expect(second.changed).toEqual([`ConfigMap/default/a@${written().a!.resourceVersion}`]);
  expect(second.gone).toEqual(["ConfigMap/default/b"]);
  expect(written().a!.uid).toBe(before.a!.uid);
  expect(written().a!.resourceVersion).not.toBe(before.a!.resourceVersion);
  expect(written().lasting).toEqual(before.lasting);
});

test("for the next case an equal object is a new one, unless it outlives cases", async () => {
  const file = createManifestFile(folder, new Set(["ConfigMap/default/lasting"]));
  await file.replace([configMap("lasting", {}), configMap("a", {})], true);
  const before = written();
  const change = await file.replace([configMap("lasting", {}), configMap("a", {})], true);
  expect(change).toEqual({ changed: [`ConfigMap/default/a@${written().a!.resourceVersion}`], gone: [] });
  expect(written().a!.uid).not.toBe(before.a!.uid);
  expect(written().lasting).toEqual(before.lasting);
  expect(written().a!.namespace).toBe("default");
});

test("no draft stays behind", async () => {
  const file = createManifestFile(folder, new Set());
  await file.replace([configMap("a", {})], true);
  expect(readdirSync(folder)).toEqual(["objects.json"]);
  expect(file.all()).toHaveLength(1);
});
