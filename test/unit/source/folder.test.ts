import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createLogger } from "../../../control/run/logger.ts";
import { FolderSource } from "../../../control/source/folder.ts";
import type { Ingress, Secret } from "../../../control/source/kinds.ts";
import { Recorder } from "./recorder.ts";

let root: string;
let source: FolderSource;
let sink: Recorder;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "sluice-folder-"));
  sink = new Recorder();
  source = new FolderSource({ path: root, logger: createLogger(0, { write: () => {} }), rescanMs: 60_000 });
});

afterEach(async () => {
  await source.stop();
  rmSync(root, { recursive: true, force: true });
});

/** As an editor that is careful would: whole, under another name first. */
function put(name: string, text: string): void {
  const path = join(root, name);
  mkdirSync(dirname(path), { recursive: true });
  const hidden = join(dirname(path), ".new");
  writeFileSync(hidden, text);
  renameSync(hidden, path);
}

function configMap(name: string, value: string, extra = ""): string {
  return `apiVersion: v1\nkind: ConfigMap\nmetadata: { name: ${name}${extra} }\ndata: { key: "${value}" }\n`;
}

async function started(): Promise<void> {
  source.start(sink);
  await sink.until(() => sink.synchronised === 1);
}

function value(name: string): string | undefined {
  const object = sink.objects.get(`ConfigMap/default/${name}`);
  return object?.kind === "ConfigMap" ? object.data.key : undefined;
}

test("everything is read before the folder counts as synced, in one batch", async () => {
  put("a.yaml", `${configMap("one", "1")}---\n${configMap("two", "2")}`);
  put(
    "deep/er/b.json",
    JSON.stringify({ apiVersion: "v1", kind: "List", items: [{ apiVersion: "v1", kind: "Namespace", metadata: { name: "n" } }] }),
  );
  put("deep/readme.md", "no manifest");
  put(".hidden/c.yaml", configMap("three", "3"));
  await started();
  expect(sink.keys()).toEqual(["ConfigMap/default/one", "ConfigMap/default/two", "Namespace//n"]);
  expect(sink.batches).toHaveLength(1);
  expect(sink.current).toEqual([]);
});

test("a changed, a new and a removed file are noticed, and only what changed is sent", async () => {
  put("a.yaml", `${configMap("one", "1")}---\n${configMap("two", "2")}`);
  await started();
  put("a.yaml", `${configMap("one", "1")}---\n${configMap("two", "22")}`);
  await sink.until(() => value("two") === "22");
  expect(sink.batches[1]!.map((event) => event.type === "upsert" && event.object.metadata.name)).toEqual(["two"]);
  put("new/folder/b.yaml", configMap("three", "3"));
  await sink.until(() => value("three") === "3");
  put("new/folder/b.yaml", configMap("three", "33"));
  await sink.until(() => value("three") === "33");
  rmSync(join(root, "new"), { recursive: true });
  await sink.until(() => value("three") === undefined);
  expect(value("one")).toBe("1");
});

test("a folder removed and made anew at once is watched again", async () => {
  put("sub/a.yaml", configMap("one", "1"));
  await started();
  rmSync(join(root, "sub"), { recursive: true });
  put("sub/a.yaml", configMap("one", "2"));
  await sink.until(() => value("one") === "2");
  put("sub/a.yaml", configMap("one", "3"));
  await sink.until(() => value("one") === "3");
});

test("a file that does not parse keeps its former objects and says where", async () => {
  put("a.yaml", configMap("one", "1"));
  await started();
  put("a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: one\ndata: {}\n");
  await sink.until(() => sink.current.length > 0);
  expect(sink.current[0]).toMatchObject({ code: "file-unreadable", about: { kind: "File", name: "a.yaml" } });
  expect(sink.current[0]!.at).toMatch(/^line [34] column \d+$/);
  expect(value("one")).toBe("1");
  put("a.yaml", configMap("one", "2"));
  await sink.until(() => value("one") === "2" && sink.current.length === 0);
});

test("bytes that are no text make the file unreadable", async () => {
  writeFileSync(join(root, "a.yaml"), Buffer.from([0x61, 0x3a, 0xff, 0xfe]));
  await started();
  expect(sink.current).toMatchObject([{ code: "file-unreadable", text: "is not UTF-8 text" }]);
});

test("a malformed object keeps its former version; its neighbours in the file change", async () => {
  put("a.yaml", `${configMap("one", "1")}---\n${configMap("two", "2")}`);
  await started();
  put("a.yaml", `${configMap("one", "11").replace('"11"', "11")}---\n${configMap("two", "22")}`);
  await sink.until(() => value("two") === "22");
  expect(value("one")).toBe("1");
  await sink.until(() => sink.current.length > 0);
  expect(sink.current).toMatchObject([
    { code: "object-malformed", about: { kind: "ConfigMap", namespace: "default", name: "one" }, at: "data[key]" },
  ]);
});

test("of two definitions the first in file order holds; when it goes, the other one does", async () => {
  put("b.yaml", configMap("one", "b"));
  put("a.yaml", configMap("one", "a"));
  await started();
  expect(value("one")).toBe("a");
  expect(sink.current).toMatchObject([{ code: "object-duplicate", text: "is defined in a.yaml and again in b.yaml" }]);
  rmSync(join(root, "a.yaml"));
  await sink.until(() => value("one") === "b" && sink.current.length === 0);
});

test("what an API server would have set is made up, and stays", async () => {
  put("a.yaml", configMap("one", "1"));
  const born = new Date("2020-02-03T04:05:06.789Z");
  utimesSync(join(root, "a.yaml"), born, born);
  await started();
  const first = sink.objects.get("ConfigMap/default/one")!.metadata;
  expect(first.creationTimestamp).toBe("2020-02-03T04:05:06Z");
  expect(first.uid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
  put("a.yaml", configMap("one", "2"));
  await sink.until(() => value("one") === "2");
  const second = sink.objects.get("ConfigMap/default/one")!.metadata;
  expect(second).toEqual({ ...first, resourceVersion: second.resourceVersion });
  expect(second.resourceVersion).not.toBe(first.resourceVersion);
});

test("a given resourceVersion is kept, but an edit without a new one still counts", async () => {
  put("a.yaml", configMap("one", "1", ', resourceVersion: "7"'));
  await started();
  const version = () => sink.objects.get("ConfigMap/default/one")!.metadata.resourceVersion;
  expect(version()).toBe("7");
  put("a.yaml", configMap("one", "2", ', resourceVersion: "7"'));
  await sink.until(() => value("one") === "2");
  expect(version()).toMatch(/^7-[0-9a-f]{8}$/);
  put("a.yaml", configMap("one", "2", ', resourceVersion: "8"'));
  await sink.until(() => version() === "8");
});

test("a file with a time in the future is read once it has come to rest", async () => {
  put("a.yaml", configMap("one", "1"));
  const later = new Date(Date.now() + 3_600_000);
  utimesSync(join(root, "a.yaml"), later, later);
  await started();
  expect(value("one")).toBe("1");
});

test("a mounted ConfigMap changes by swapping a link", async () => {
  mkdirSync(join(root, "..v1"));
  writeFileSync(join(root, "..v1/a.yaml"), configMap("one", "1"));
  symlinkSync("..v1", join(root, "..data"));
  symlinkSync("..data/a.yaml", join(root, "a.yaml"));
  await started();
  expect(value("one")).toBe("1");
  mkdirSync(join(root, "..v2"));
  writeFileSync(join(root, "..v2/a.yaml"), configMap("one", "2"));
  symlinkSync("..v2", join(root, "..tmp"));
  renameSync(join(root, "..tmp"), join(root, "..data"));
  await sink.until(() => value("one") === "2");
});

test("a link to a folder above ends there", async () => {
  put("sub/a.yaml", configMap("one", "1"));
  symlinkSync("..", join(root, "sub/loop"));
  await started();
  expect(sink.keys()).toEqual(["ConfigMap/default/one"]);
  expect(sink.current).toEqual([]);
});

test("a folder that does not exist is a finding, and is read when it appears", async () => {
  const path = join(root, "later");
  const late = new FolderSource({ path, logger: createLogger(0, { write: () => {} }), rescanMs: 20 });
  const seen = new Recorder();
  late.start(seen);
  await seen.until(() => seen.synchronised === 1);
  expect(seen.codes()).toEqual(["file-unreadable"]);
  put("later/a.yaml", configMap("one", "1"));
  await seen.until(() => seen.objects.size === 1 && seen.current.length === 0);
  await late.stop();
});

test("secrets are decoded, stringData wins, and an Ingress keeps only what is read", async () => {
  put(
    "a.yaml",
    `apiVersion: v1
kind: Secret
metadata: { name: s }
data: { a: aGVsbG8=, b: /w==, c: b2xk }
stringData: { c: new }
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: { name: i, namespace: web, annotations: { a: "1", kubectl.kubernetes.io/last-applied-configuration: "{}" }, managedFields: [] }
spec:
  rules:
    - host: app.test
      http: { paths: [{ path: /, pathType: Prefix, backend: { service: { name: x, port: { number: 80 } } } }] }
    - host: bare.test
status: { loadBalancer: {} }
`,
  );
  await started();
  const secret = sink.objects.get("Secret/default/s") as Secret;
  expect(secret.data).toEqual({ a: "hello", b: "ÿ", c: "new" });
  const ingress = sink.objects.get("Ingress/web/i") as Ingress;
  expect(ingress.metadata.annotations).toEqual({ a: "1" });
  expect(ingress.spec).toEqual({
    tls: [],
    rules: [
      { host: "app.test", paths: [{ path: "/", pathType: "Prefix", backend: { service: { name: "x", port: { number: 80 } } } }] },
      { host: "bare.test" },
    ],
  });
  expect(Object.keys(ingress)).toEqual(["kind", "metadata", "spec"]);
});
