import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TLSSocket } from "node:tls";
import { afterEach, beforeEach, expect, test } from "vitest";
import { AdmissionCounts } from "../../../control/admission/counts.ts";
import { type AdmissionServer, parseAddress, startAdmission } from "../../../control/admission/server.ts";
import { createLogger } from "../../../control/run/logger.ts";
import { fakeSubject, selfSigned } from "../../../control/run/self-signed.ts";

let folder: string;
let server: AdmissionServer;
let counts: AdmissionCounts;
let refusal: string | undefined;
let hold: Promise<void> | undefined;

async function writePair(commonName: string): Promise<void> {
  const { certificate, key } = await selfSigned({ ...fakeSubject, commonName });
  writeFileSync(join(folder, "cert"), certificate);
  writeFileSync(join(folder, "key"), key);
}

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "sluice-admission-"));
  await writePair("first");
  counts = new AdmissionCounts();
  refusal = undefined;
  hold = undefined;
  server = await startAdmission({
    address: "127.0.0.1:0",
    certificateFile: join(folder, "cert"),
    keyFile: join(folder, "key"),
    check: async () => {
      await hold;
      return { refusal, warnings: ["look out"], counted: true, tested: 3 };
    },
    ready: Promise.resolve(),
    onChecked: (review, seconds) => counts.add(review, seconds),
    logger: createLogger(0, { write: () => undefined }),
  });
});

afterEach(async () => {
  await server.stop();
  rmSync(folder, { recursive: true });
});

function post(body: string | Buffer, agent: Agent | false = false): Promise<{ status: number; text: string; subject: string }> {
  return new Promise((resolve, reject) => {
    const call = request(
      { port: server.port, host: "127.0.0.1", method: "POST", path: "/any", rejectUnauthorized: false, agent },
      (response) => {
        const subject = (response.socket as TLSSocket).getPeerCertificate().subject.CN;
        let text = "";
        response.on("data", (part: Buffer) => {
          text += part.toString();
        });
        response.on("end", () => resolve({ status: response.statusCode ?? 0, text, subject: String(subject) }));
      },
    );
    // A refused body is answered before it has been sent to its end.
    call.on("error", (error: NodeJS.ErrnoException) => (error.code === "EPIPE" ? undefined : reject(error)));
    call.end(body);
  });
}

function review(object: unknown, more: object = {}): string {
  const kind = { group: "networking.k8s.io", version: "v1", kind: "Ingress" };
  return JSON.stringify({
    apiVersion: "admission.k8s.io/v1",
    kind: "AdmissionReview",
    request: { uid: "u-1", kind, operation: "CREATE", object, ...more },
  });
}

const ingress = { metadata: { name: "web", namespace: "default" }, spec: {} };

test("admission and refusal in the words of the API server", async () => {
  const admitted = await post(review(ingress));
  expect(admitted.status).toBe(200);
  expect(JSON.parse(admitted.text)).toMatchObject({
    kind: "AdmissionReview",
    apiVersion: "admission.k8s.io/v1",
    response: { uid: "u-1", allowed: true, warnings: ["look out"] },
  });
  refusal = "no";
  expect(JSON.parse((await post(review(ingress))).text).response).toEqual({
    uid: "u-1",
    allowed: false,
    warnings: ["look out"],
    status: { status: "Failure", message: "no", reason: "BadRequest", code: 400 },
  });
  expect([...counts.all()]).toEqual([{ namespace: "default", name: "web", admitted: 1, refused: 1 }]);
});

test("deletes and what is being deleted pass, an Ingress that cannot be read does not", async () => {
  refusal = "no";
  const gone = await post(review(null, { operation: "DELETE" }));
  expect(JSON.parse(gone.text).response).toEqual({ uid: "u-1", allowed: true });
  const leaving = await post(review({ ...ingress, metadata: { ...ingress.metadata, deletionTimestamp: "2026-11-21T12:00:00Z" } }));
  expect(JSON.parse(leaving.text).response.allowed).toBe(true);
  const broken = await post(review({ metadata: { name: "web" }, spec: { rules: "none" } }));
  expect(JSON.parse(broken.text).response.status.message).toContain("spec.rules must be a list");
});

test("a review on a kept connection is still answered while the server stops, and holds it up no longer", async () => {
  let release: () => void = () => undefined;
  hold = new Promise((resolve) => {
    release = resolve;
  });
  const agent = new Agent({ keepAlive: true, rejectUnauthorized: false });
  const reply = post(review(ingress), agent);
  await expect.poll(() => server.inUse).toBe(1);
  const stopped = server.stop();
  release();
  expect((await reply).status).toBe(200);
  await stopped;
  expect(Object.keys(agent.freeSockets)).toEqual([]);
  agent.destroy();
});

test("what is no review of an Ingress is an error of the protocol", async () => {
  expect((await post("{")).status).toBe(400);
  expect((await post("{}")).status).toBe(500);
  expect((await post(review(ingress, { kind: { group: "apps", version: "v1", kind: "Deployment" } }))).status).toBe(500);
  expect((await post(review(ingress).replace("k8s.io/v1", "k8s.io/v1beta1"))).status).toBe(500);
  expect((await post(Buffer.alloc(9 * 1024 * 1024, " "))).status).toBe(413);
});

test("a new certificate is used at once, one without its key is not", async () => {
  expect((await post(review(ingress))).subject).toBe("first");
  const former = (await selfSigned({ ...fakeSubject, commonName: "half" })).certificate;
  writeFileSync(join(folder, "cert"), former);
  server.renew();
  expect((await post(review(ingress))).subject).toBe("first");
  await writePair("second");
  server.renew();
  expect((await post(review(ingress))).subject).toBe("second");
});

test("addresses", () => {
  expect(parseAddress(":8443")).toEqual({ host: "", port: 8443 });
  expect(parseAddress("[::1]:8443")).toEqual({ host: "::1", port: 8443 });
  expect(parseAddress("127.0.0.1:1")).toEqual({ host: "127.0.0.1", port: 1 });
  expect(() => parseAddress("8443")).toThrow("--validating-webhook");
  expect(() => parseAddress(":70000")).toThrow("--validating-webhook");
});
