/** Rendered manifests by kind and name, with what the checks read of them again and again. */

import type { Manifest, Variant } from "./render.ts";

export interface Release {
  readonly variant: Variant;
  readonly manifests: readonly Manifest[];
  /** Where the chart puts its objects. */
  readonly namespace: string;
}

const clusterWide = new Set(["ClusterRole", "ClusterRoleBinding", "IngressClass", "ValidatingWebhookConfiguration"]);

export function isClusterWide(kind: string): boolean {
  return clusterWide.has(kind);
}

export function ofKind(release: Release, ...kinds: readonly string[]): readonly Manifest[] {
  return release.manifests.filter((one) => kinds.includes(one.kind));
}

export function named(release: Release, kind: string, name: string, namespace = release.namespace): Manifest | undefined {
  return ofKind(release, kind).find((one) => one.metadata.name === name && (isClusterWide(kind) || one.metadata.namespace === namespace));
}

/** What makes pods. */
export function workloads(release: Release): readonly Manifest[] {
  return ofKind(release, "Deployment", "DaemonSet", "Job");
}

export function controllerOf(release: Release): Manifest {
  const found = ofKind(release, "Deployment", "DaemonSet").find(
    (one) => one.metadata.labels?.["app.kubernetes.io/component"] === "controller",
  );
  if (found === undefined) throw new Error("there is no controller");
  return found;
}

export interface ContainerPort {
  readonly name: string;
  readonly containerPort: number;
  readonly protocol: string;
}

// biome-ignore lint/suspicious/noExplicitAny: a container, read field by field
export function controllerContainer(release: Release): any {
  return controllerOf(release).spec.template.spec.containers[0];
}

/** The controller's flags as a pod gets them. */
export function flagsOf(release: Release): readonly string[] {
  const [program, ...flags] = controllerContainer(release).args as readonly string[];
  if (program !== "/nginx-ingress-controller") throw new Error(`the program is ${program}`);
  return flags.map((flag) => flag.replaceAll("$(POD_NAMESPACE)", release.namespace));
}

type Labels = Readonly<Record<string, string>>;

export function selects(selector: Labels, labels: Labels | undefined): boolean {
  return Object.entries(selector).every(([name, value]) => labels?.[name] === value);
}

/** Pod templates that a selector fits. */
export function selectedWorkloads(release: Release, selector: Labels): readonly Manifest[] {
  return workloads(release).filter((one) => selects(selector, one.spec.template.metadata.labels));
}
