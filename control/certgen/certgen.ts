/** Stores the webhook's certificate in a Secret, and its CA where the API server looks for it. */

import { X509Certificate } from "node:crypto";
import { type Clock, systemClock } from "../run/clock.ts";
import { type ApiServer, apiErrorOf } from "../source/api-server.ts";
import type { CreateArguments, PatchArguments } from "./arguments.ts";
import { webhookCertificates } from "./certificates.ts";

type Say = (message: string, fields?: Readonly<Record<string, string>>) => void;

interface Secret {
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly data?: Readonly<Record<string, string>>;
}

interface WebhookConfiguration {
  readonly webhooks?: readonly { readonly clientConfig: object; readonly failurePolicy?: string }[];
}

const patience = () => AbortSignal.timeout(30_000);

async function readSecret(api: ApiServer, namespace: string, name: string): Promise<Secret | undefined> {
  try {
    return (await api.get(`/api/v1/namespaces/${namespace}/secrets/${name}`, {}, patience())) as Secret;
  } catch (error) {
    if (apiErrorOf(error).status === 404) return undefined;
    throw new Error(`the Secret ${namespace}/${name} cannot be read: ${(error as Error).message}`, { cause: error });
  }
}

export async function createCertificate(api: ApiServer, args: CreateArguments, say: Say, clock: Clock = systemClock): Promise<void> {
  const { namespace, secretName, certName, keyName } = args;
  const found = await readSecret(api, namespace, secretName);
  if (found !== undefined) {
    if (found.data?.ca === undefined) throw new Error(`the Secret ${namespace}/${secretName} is there and has no key "ca"`);
    if (!endsSoon(found.data[certName], args.renewBeforeMs, clock)) {
      say("secret already exists", { secret: `${namespace}/${secretName}` });
      return;
    }
  }
  const made = await webhookCertificates(args.hosts, args.days, clock);
  const data = { ca: base64(made.ca), [certName]: base64(made.certificate), [keyName]: base64(made.key) };
  const path = `/api/v1/namespaces/${namespace}/secrets`;
  if (found !== undefined) {
    await api.send("PUT", `${path}/${secretName}`, { ...found, data: { ...found.data, ...data } });
    say("renewed the certificate", { secret: `${namespace}/${secretName}` });
    return;
  }
  await api.send("POST", path, { apiVersion: "v1", kind: "Secret", type: "Opaque", metadata: { name: secretName, namespace }, data });
  say("created the secret", { secret: `${namespace}/${secretName}` });
}

function endsSoon(certificate: string | undefined, withinMs: number, clock: Clock): boolean {
  if (withinMs === 0) return false;
  if (certificate === undefined) return true;
  try {
    return Date.parse(new X509Certificate(Buffer.from(certificate, "base64")).validTo) - clock.now() <= withinMs;
  } catch {
    return true;
  }
}

/** Reads and replaces: the roles of the retired chart allow no patch. */
export async function patchConfigurations(api: ApiServer, args: PatchArguments, say: Say): Promise<void> {
  const secret = await readSecret(api, args.namespace, args.secretName);
  const ca = secret?.data?.ca;
  if (ca === undefined) throw new Error(`there is no Secret ${args.namespace}/${args.secretName} with a key "ca"`);
  const group = "/apis/admissionregistration.k8s.io/v1";
  if (args.validating)
    await patchWebhooks(api, `${group}/validatingwebhookconfigurations/${args.webhookName}`, ca, args.failurePolicy, say);
  if (args.mutating) await patchWebhooks(api, `${group}/mutatingwebhookconfigurations/${args.webhookName}`, ca, args.failurePolicy, say);
  if (args.apiServiceName !== "") {
    await replace(api, `/apis/apiregistration.k8s.io/v1/apiservices/${args.apiServiceName}`, (object) => ({
      ...object,
      spec: { ...(object.spec as object), caBundle: ca, insecureSkipTLSVerify: false },
    }));
    say("patched the APIService", { name: args.apiServiceName });
  }
}

async function patchWebhooks(api: ApiServer, path: string, ca: string, failurePolicy: string, say: Say): Promise<void> {
  await replace(api, path, (object) => ({
    ...object,
    webhooks: ((object as WebhookConfiguration).webhooks ?? []).map((webhook) => ({
      ...webhook,
      clientConfig: { ...webhook.clientConfig, caBundle: ca },
      ...(failurePolicy === "" ? {} : { failurePolicy }),
    })),
  }));
  say("patched the webhook configuration", { path });
}

type Raw = Readonly<Record<string, unknown>>;

async function replace(api: ApiServer, path: string, change: (object: Raw) => Raw): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await api.send("PUT", path, change((await api.get(path, {}, patience())) as Raw));
      return;
    } catch (error) {
      // Somebody else wrote meanwhile.
      if (apiErrorOf(error).status === 409 && tries < 5) continue;
      throw new Error(`${path} cannot be patched: ${(error as Error).message}`, { cause: error });
    }
  }
}

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}
