import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { connectApiServer } from "../../../control/source/api-server.ts";
import { loadKubeConfig } from "../../../control/source/kube-config.ts";
import { FakeApi } from "../../kit/fake-api.ts";

let folder: string;
let api: FakeApi;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "sluice-kubeconfig-"));
  api = new FakeApi();
  await api.listen();
});

afterEach(async () => {
  await api.close();
  rmSync(folder, { recursive: true });
});

/** What a request's Authorization header says. */
async function authorization(user: object, apiserverHost = ""): Promise<string | undefined> {
  const file = join(folder, "kubeconfig");
  const config = {
    clusters: [{ name: "c", cluster: { server: apiserverHost === "" ? api.url : "https://nowhere.invalid" } }],
    users: [{ name: "u", user }],
    contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
    "current-context": "x",
  };
  writeFileSync(file, JSON.stringify(config));
  const connected = connectApiServer(loadKubeConfig({ kubeconfig: file, apiserverHost, certificateAuthority: "" }));
  await connected.get("/api/v1/configmaps", {}, AbortSignal.timeout(10_000));
  connected.close();
  return api.calls.at(-1)!.headers.authorization;
}

test("a plain http server, as of kubectl proxy, is spoken to", async () => {
  expect(await authorization({ token: "t" })).toBe("Bearer t");
  expect(await authorization({ token: "t" }, api.url)).toBe("Bearer t");
});

test("a token file beside the kubeconfig counts more than a token in it", async () => {
  writeFileSync(join(folder, "token"), "from-file\n");
  expect(await authorization({ token: "t", tokenFile: "token" })).toBe("Bearer from-file");
  expect(await authorization({ tokenFile: join(folder, "token") }, api.url)).toBe("Bearer from-file");
});
