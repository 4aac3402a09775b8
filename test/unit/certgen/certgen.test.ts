import { createPrivateKey, X509Certificate } from "node:crypto";
import { expect, test } from "vitest";
import { type CreateArguments, type PatchArguments, parseCertgen } from "../../../control/certgen/arguments.ts";
import { createCertificate, patchConfigurations } from "../../../control/certgen/certgen.ts";
import { webhookCertificates } from "../../../control/certgen/certificates.ts";
import { parseDuration } from "../../../control/options/flag-value.ts";
import { ApiError, type ApiServer } from "../../../control/source/api-server.ts";

const parse = (...argv: string[]) => parseCertgen(argv, parseDuration);
const where = ["--secret-name=admission", "--namespace=ingress-nginx"];

test("the command lines of the chart's jobs", () => {
  expect(parse("create", "--host=a,a.ns.svc", ...where)).toMatchObject({
    command: "create",
    hosts: ["a", "a.ns.svc"],
    secretName: "admission",
    certName: "cert",
    keyName: "key",
    renewBeforeMs: 0,
  });
  expect(parse("patch", "--webhook-name=w", "--patch-mutating=false", "--patch-failure-policy=Fail", ...where)).toMatchObject({
    validating: true,
    mutating: false,
    failurePolicy: "Fail",
  });
  expect(parse("create", "--host", "a", "--secret-name", "s", "--namespace", "n")).toMatchObject({ hosts: ["a"] });
});

test("what cannot be meant is said", () => {
  expect(() => parse("create", ...where)).toThrow("--host is required");
  expect(() => parse("patch", "--webhook-name=w", "--patch-failure-policy=Maybe", ...where)).toThrow("Ignore or Fail");
  expect(() => parse("patch", "--patch-validating=false", "--patch-mutating=false", ...where)).toThrow("nothing to patch");
  expect(() => parse("patch", "--wrong", ...where)).toThrow("unknown flag");
  expect(() => parse("make")).toThrow("unknown command");
});

test("the certificate is the CA's, for names and addresses of both families", async () => {
  const made = await webhookCertificates(["admission.ns.svc", "10.0.0.1", "::1", "2001:db8::7"], 365);
  const ca = new X509Certificate(made.ca);
  const leaf = new X509Certificate(made.certificate);
  expect(leaf.verify(ca.publicKey)).toBe(true);
  expect(leaf.checkIssued(ca)).toBe(true);
  expect(ca.ca).toBe(true);
  expect(leaf.ca).toBe(false);
  expect(leaf.checkHost("admission.ns.svc")).toBe("admission.ns.svc");
  for (const address of ["10.0.0.1", "::1", "2001:db8::7"]) expect(leaf.checkIP(address)).toBe(address);
  expect(leaf.checkPrivateKey(createPrivateKey(made.key))).toBe(true);
  expect(made.key).toContain("EC PRIVATE KEY");
});

class Store {
  readonly objects = new Map<string, object>();
  readonly writes: string[] = [];
  conflicts = 0;

  api(): ApiServer {
    return {
      url: "",
      get: async (path) => {
        const object = this.objects.get(path);
        if (object === undefined) throw new ApiError("answered 404", 404, 0);
        return object;
      },
      send: async (method, path, body) => {
        if (this.conflicts > 0) {
          this.conflicts -= 1;
          throw new ApiError("answered 409", 409, 0);
        }
        this.writes.push(`${method} ${path}`);
        const name = (body as { metadata: { name: string } }).metadata.name;
        this.objects.set(method === "POST" ? `${path}/${name}` : path, body as object);
        return body;
      },
      stream: () => Promise.reject(new Error("not here")),
      close: () => undefined,
    };
  }
}

const secretPath = "/api/v1/namespaces/ingress-nginx/secrets/admission";
const hooksPath = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/w";
const quiet = () => undefined;

function create(...more: string[]): CreateArguments {
  return parse("create", "--host=a", ...where, ...more) as CreateArguments;
}

test("created once, left alone afterwards, renewed where asked", async () => {
  const store = new Store();
  await createCertificate(store.api(), create(), quiet);
  await createCertificate(store.api(), create(), quiet);
  expect(store.writes).toEqual([`POST ${secretPath.slice(0, -"/admission".length)}`]);
  expect(store.objects.get(secretPath)).toMatchObject({
    type: "Opaque",
    data: { ca: expect.any(String), cert: expect.any(String), key: expect.any(String) },
  });
  await createCertificate(store.api(), create("--renew-before=1h"), quiet);
  expect(store.writes).toHaveLength(1);
  await createCertificate(store.api(), create("--renew-before=876000h", "--days=1"), quiet);
  await createCertificate(store.api(), create("--renew-before=48h"), quiet);
  expect(store.writes.slice(1)).toEqual([`PUT ${secretPath}`, `PUT ${secretPath}`]);
  store.objects.set(secretPath, { metadata: {}, data: { cert: "x" } });
  await expect(createCertificate(store.api(), create(), quiet)).rejects.toThrow('no key "ca"');
});

test("every webhook gets the CA and the policy; a conflict is tried again", async () => {
  const store = new Store();
  const args = parse("patch", "--webhook-name=w", "--patch-mutating=false", "--patch-failure-policy=Ignore", ...where) as PatchArguments;
  await expect(patchConfigurations(store.api(), args, quiet)).rejects.toThrow('key "ca"');
  store.objects.set(secretPath, { metadata: {}, data: { ca: "Y2E=" } });
  await expect(patchConfigurations(store.api(), args, quiet)).rejects.toThrow(hooksPath);
  const hook = { name: "v", clientConfig: { service: { name: "s" } }, failurePolicy: "Fail" };
  store.objects.set(hooksPath, { metadata: { name: "w" }, webhooks: [hook, { ...hook, name: "v2" }] });
  store.conflicts = 2;
  await patchConfigurations(store.api(), args, quiet);
  const patched = { clientConfig: { service: { name: "s" }, caBundle: "Y2E=" }, failurePolicy: "Ignore" };
  expect(store.objects.get(hooksPath)).toMatchObject({
    webhooks: [
      { name: "v", ...patched },
      { name: "v2", ...patched },
    ],
  });
});
