/** What must hold of any rendered release. Each check returns sentences about what does not. */

import { namespacedName, type Options, parseFlags } from "../../control/options/flags.ts";
import {
  type ContainerPort,
  controllerContainer,
  controllerOf,
  flagsOf,
  isClusterWide,
  named,
  ofKind,
  type Release,
  selectedWorkloads,
  selects,
  workloads,
} from "./release.ts";
import type { Manifest } from "./render.ts";

export interface Check {
  readonly name: string;
  readonly problems: (release: Release) => readonly string[];
}

function idOf({ kind, metadata }: Manifest): string {
  return `${kind} ${metadata.namespace === undefined ? "" : `${metadata.namespace}/`}${metadata.name}`;
}

function optionsOf(release: Release): Options {
  const parsed = parseFlags(flagsOf(release));
  if ("error" in parsed) throw new Error(parsed.error);
  return parsed.ok;
}

function identities(release: Release): string[] {
  const seen = new Set<string>();
  return release.manifests.flatMap((one) => {
    const id = idOf(one);
    const out: string[] = [];
    if (seen.has(id)) out.push(`${id} is there twice`);
    seen.add(id);
    if (!/^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/.test(one.metadata.name)) out.push(`${id}: not a name`);
    if (isClusterWide(one.kind) !== (one.metadata.namespace === undefined)) out.push(`${id}: wrong about its namespace`);
    if (one.metadata.labels?.["app.kubernetes.io/instance"] !== release.variant.release) out.push(`${id}: not labelled as of this release`);
    return out;
  });
}

function flags(release: Release): string[] {
  const given = flagsOf(release);
  const names = given.map((flag) => flag.split("=")[0]!);
  const parsed = parseFlags(given);
  return [
    ...names.filter((name, i) => names.indexOf(name) !== i).map((name) => `${name} is given twice`),
    ...("error" in parsed ? [parsed.error] : []),
  ];
}

/** Objects that flags name; those in other namespaces, and those that the values name, are not the chart's. */
function namedByFlags(release: Release): string[] {
  const options = optionsOf(release);
  const wanted: [string, string, string][] = [
    ["configmap", "ConfigMap", options.configmap],
    ["tcp-services-configmap", "ConfigMap", options.tcpServicesConfigmap],
    ["udp-services-configmap", "ConfigMap", options.udpServicesConfigmap],
    ["default-backend-service", "Service", options.defaultBackendService],
    ["publish-service", "Service", options.publishService],
  ];
  const given = JSON.stringify(release.variant.values);
  return wanted.flatMap(([flag, kind, text]) => {
    const ref = namespacedName(text);
    if (ref === undefined || given.includes(text)) return [];
    return named(release, kind, ref.name, ref.namespace) === undefined ? [`--${flag}: no ${kind} ${text}`] : [];
  });
}

function selectors(release: Release): string[] {
  const out: string[] = [];
  for (const one of ofKind(release, "Deployment", "DaemonSet")) {
    if (selectedWorkloads(release, one.spec.selector.matchLabels).length !== 1)
      out.push(`${idOf(one)}: does not select its own pods alone`);
  }
  for (const one of ofKind(release, "Service")) {
    const [target, ...more] = selectedWorkloads(release, one.spec.selector);
    if (target === undefined || more.length > 0) out.push(`${idOf(one)}: selects ${more.length + (target ? 1 : 0)} workloads`);
    else out.push(...servicePorts(one, target));
  }
  for (const one of ofKind(release, "PodDisruptionBudget", "NetworkPolicy")) {
    const selector = (one.spec.selector ?? one.spec.podSelector).matchLabels;
    if (selectedWorkloads(release, selector).length === 0) out.push(`${idOf(one)}: selects no pods`);
  }
  for (const one of ofKind(release, "HorizontalPodAutoscaler", "ScaledObject")) {
    const target = named(release, "Deployment", one.spec.scaleTargetRef.name);
    if (target === undefined) out.push(`${idOf(one)}: no such Deployment`);
    else if (target.spec.replicas !== undefined) out.push(`${idOf(one)}: the Deployment sets its own replicas`);
  }
  return out;
}

function portsOf(workload: Manifest): readonly ContainerPort[] {
  return workload.spec.template.spec.containers.flatMap((one: { readonly ports?: readonly ContainerPort[] }) => one.ports ?? []);
}

function servicePorts(service: Manifest, target: Manifest): string[] {
  const ports = portsOf(target);
  const of: readonly { readonly name: string; readonly targetPort: string | number; readonly protocol: string }[] = service.spec.ports;
  return of.flatMap((port) => {
    const fits = ports.some((one) => [one.name, one.containerPort].includes(port.targetPort) && one.protocol === port.protocol);
    return fits ? [] : [`${idOf(service)}: port ${port.name} leads to no container port`];
  });
}

function containerPorts(release: Release): string[] {
  const ports = portsOf(controllerOf(release));
  const options = optionsOf(release);
  const port = (name: string) => ports.find((one) => one.name === name)?.containerPort;
  const webhook = options.validatingWebhook === "" ? undefined : Number(options.validatingWebhook.split(":").at(-1));
  return [
    ...ports.filter((one) => !/^[a-z0-9-]{1,15}$/.test(one.name) || !/[a-z]/.test(one.name)).map((one) => `${one.name} is no port name`),
    ...ports.filter((one, i) => ports.findIndex((other) => other.name === one.name) !== i).map((one) => `port ${one.name} is there twice`),
    ...(port("http") === options.httpPort && port("https") === options.httpsPort ? [] : ["http and https are not the ports of the flags"]),
    ...(port("webhook") === webhook ? [] : ["webhook is not the port of --validating-webhook"]),
    ...(options.enableMetrics && port("metrics") !== options.healthzPort ? ["metrics is not --healthz-port"] : []),
  ];
}

function probes(release: Release): string[] {
  const options = optionsOf(release);
  const container = controllerContainer(release);
  return ["startupProbe", "livenessProbe", "readinessProbe"].flatMap((name) => {
    const get = container[name]?.httpGet;
    if (get === undefined) return name === "startupProbe" ? [] : [`no ${name}`];
    return get.path === options.healthCheckPath && get.port === options.healthzPort ? [] : [`${name} asks ${get.port}${get.path}`];
  });
}

/** Volumes that are mounted and not there, accounts, files of the webhook, a writable /tmp. */
function pods(release: Release): string[] {
  const out: string[] = [];
  for (const one of workloads(release)) {
    const spec = one.spec.template.spec;
    const volumes = new Set((spec.volumes ?? []).map((volume: { readonly name: string }) => volume.name));
    const containers = [...(spec.initContainers ?? []), ...spec.containers];
    for (const mount of containers.flatMap((container) => container.volumeMounts ?? [])) {
      if (!volumes.has(mount.name)) out.push(`${idOf(one)}: no volume ${mount.name}`);
    }
    const account = spec.serviceAccountName;
    const given = JSON.stringify(release.variant.values).includes(`"${account}"`);
    if (!given && named(release, "ServiceAccount", account) === undefined) out.push(`${idOf(one)}: no ServiceAccount ${account}`);
  }
  const container = controllerContainer(release);
  const mounts: readonly { readonly mountPath: string }[] = container.volumeMounts ?? [];
  const paths = mounts.map((mount) => mount.mountPath.replace(/\/$/, ""));
  if (new Set(paths).size !== paths.length) out.push("two volumes at one path");
  if (container.securityContext.readOnlyRootFilesystem === true && !paths.includes("/tmp")) out.push("/tmp is not writable");
  if (!Number.isInteger(container.securityContext.runAsUser)) out.push("runAsUser is no whole number");
  if (!container.securityContext.capabilities.add.includes("NET_BIND_SERVICE")) out.push("no NET_BIND_SERVICE");
  return out;
}

function webhook(release: Release): string[] {
  const options = optionsOf(release);
  const [configuration] = ofKind(release, "ValidatingWebhookConfiguration");
  if ((configuration === undefined) !== (options.validatingWebhook === "")) return ["webhook configuration and flag do not go together"];
  if (configuration === undefined) return [];
  const { service } = configuration.webhooks[0].clientConfig;
  const found = named(release, "Service", service.name, service.namespace);
  const volume = controllerOf(release).spec.template.spec.volumes.find((one: { readonly name: string }) => one.name === "webhook-cert");
  const out: string[] = [];
  if (found?.spec.ports[0].port !== service.port) out.push(`no Service ${service.name} with port ${service.port}`);
  const makers = [
    ...ofKind(release, "Job").filter((job) =>
      job.spec.template.spec.containers[0].args.includes(`--secret-name=${volume.secret.secretName}`),
    ),
    ...ofKind(release, "Certificate").filter((one) => one.spec.secretName === volume.secret.secretName),
  ];
  if (makers.length === 0) out.push(`nobody makes Secret ${volume.secret.secretName}`);
  return [...out, ...certgen(release, options, service.name)];
}

/** The Jobs: hosts of the certificate, names of the files, the configuration to patch. */
function certgen(release: Release, options: Options, service: string): string[] {
  const jobs = ofKind(release, "Job").map((job) => job.spec.template.spec.containers[0].args as readonly string[]);
  const create = jobs.find(([word]) => word === "create");
  const patch = jobs.find(([word]) => word === "patch");
  if (create === undefined || patch === undefined) return ofKind(release, "Certificate").length > 0 ? [] : ["the Jobs are not there"];
  const files = [
    `--cert-name=${options.validatingWebhookCertificate.split("/").at(-1)}`,
    `--key-name=${options.validatingWebhookKey.split("/").at(-1)}`,
  ];
  const configuration = ofKind(release, "ValidatingWebhookConfiguration")[0]!.metadata.name;
  const wanted = [
    ...[`--host=${service},${service}.$(POD_NAMESPACE).svc`, ...files].filter((flag) => !create.includes(flag)),
    ...[`--webhook-name=${configuration}`].filter((flag) => !patch.includes(flag)),
  ];
  return wanted.map((flag) => `a Job lacks ${flag}`);
}

function monitoring(release: Release): string[] {
  return ofKind(release, "ServiceMonitor").flatMap((one) => {
    const port = one.spec.endpoints[0].port;
    const fits = ofKind(release, "Service").some(
      (service) =>
        selects(one.spec.selector.matchLabels, service.metadata.labels) &&
        service.spec.ports.some((other: { readonly name: string }) => other.name === port),
    );
    return fits ? [] : [`${idOf(one)}: no Service with port ${port}`];
  });
}

/** The values of controller.config as the controller will read them; templates in them aside. */
function settings(release: Release): string[] {
  const { controller = {} } = release.variant.values as { readonly controller?: { readonly config?: Readonly<Record<string, unknown>> } };
  const name = controllerOf(release).metadata.name;
  const data = ofKind(release, "ConfigMap").find((one) => one.metadata.name === name)?.data ?? {};
  const texts = Object.values(data).filter((text) => typeof text !== "string");
  const wrong = Object.entries(controller.config ?? {}).filter(
    ([key, value]) => data[key] !== String(value).replace(/\{\{ (.*) \}\}/, "$1"),
  );
  return [...texts.map((text) => `${text} is no text`), ...wrong.map(([key]) => `${key} is ${data[key]}`)];
}

export const checks: readonly Check[] = [
  { name: "settings", problems: settings },
  { name: "identities", problems: identities },
  { name: "flags", problems: flags },
  { name: "named-by-flags", problems: namedByFlags },
  { name: "selectors", problems: selectors },
  { name: "container-ports", problems: containerPorts },
  { name: "probes", problems: probes },
  { name: "pods", problems: pods },
  { name: "webhook", problems: webhook },
  { name: "monitoring", problems: monitoring },
];
