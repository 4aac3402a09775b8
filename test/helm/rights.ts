/** RBAC of a rendered release against what the code asks of the API server. */

import { namespacedName, type Options, parseFlags } from "../../control/options/flags.ts";
import { followedFor } from "../../control/source/cluster.ts";
import { kindRows } from "../../control/source/kinds.ts";
import type { KindName } from "../../control/source/source.ts";
import { controllerOf, flagsOf, ofKind, type Release } from "./release.ts";

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
  /** Empty: everywhere. */
  readonly namespace: string;
}

interface Right {
  readonly group: string;
  readonly resource: string;
  readonly verb: string;
  /** Empty: in all namespaces, or of the cluster. */
  readonly namespace: string;
  readonly name?: string;
}

function rulesOf(release: Release, account: string): readonly Rule[] {
  return ofKind(release, "RoleBinding", "ClusterRoleBinding").flatMap((binding) => {
    const ours = (binding.subjects as readonly { readonly name: string; readonly namespace: string }[]).some(
      (subject) => subject.name === account && subject.namespace === release.namespace,
    );
    const namespace = binding.metadata.namespace ?? "";
    const role = ofKind(release, binding.roleRef.kind).find(
      (one) => one.metadata.name === binding.roleRef.name && (one.metadata.namespace ?? "") === namespace,
    );
    if (role === undefined) throw new Error(`${binding.metadata.name}: no ${binding.roleRef.kind} ${binding.roleRef.name}`);
    return ours ? (role.rules as readonly Omit<Rule, "namespace">[]).map((rule) => ({ ...rule, namespace })) : [];
  });
}

function allowed(rules: readonly Rule[], right: Right): boolean {
  return rules.some(
    (rule) =>
      rule.apiGroups.includes(right.group) &&
      rule.resources.includes(right.resource) &&
      rule.verbs.includes(right.verb) &&
      (rule.namespace === "" || rule.namespace === right.namespace) &&
      (rule.resourceNames === undefined || (right.name !== undefined && rule.resourceNames.includes(right.name))),
  );
}

function wantedBy(options: Options, own: string): readonly Right[] {
  const kinds: KindName[] = ["Ingress", "IngressClass", "Service", "EndpointSlice", "Secret", "ConfigMap"];
  if (options.watchNamespaceSelector !== "") kinds.push("Namespace");
  const extras = [options.configmap, options.tcpServicesConfigmap, options.udpServicesConfigmap].flatMap((text) => {
    const ref = namespacedName(text);
    return ref === undefined ? [] : [{ kind: "ConfigMap" as const, ...ref }];
  });
  const followed = followedFor({ kinds, namespace: options.watchNamespace, extras });
  const reads = followed.flatMap(({ kind, namespace }) => {
    const { apiVersion, plural } = kindRows[kind];
    const group = apiVersion.includes("/") ? apiVersion.split("/")[0]! : "";
    return ["list", "watch"].map((verb) => ({ group, resource: plural, verb, namespace }));
  });
  const everywhere = options.watchNamespace;
  const networking = "networking.k8s.io";
  const lease = { group: "coordination.k8s.io", resource: "leases", namespace: own, name: options.electionId };
  const named = [options.publishService, options.defaultBackendService].flatMap((text) => namespacedName(text) ?? []);
  return [
    ...reads,
    { group: networking, resource: "ingresses", verb: "get", namespace: everywhere },
    { group: networking, resource: "ingresses/status", verb: "update", namespace: everywhere },
    ...[everywhere, own].flatMap((namespace) => ["create", "patch"].map((verb) => ({ group: "", resource: "events", verb, namespace }))),
    ...["get", "list"].map((verb) => ({ group: "", resource: "pods", verb, namespace: own })),
    ...named.map(({ namespace, name }) => ({ group: "", resource: "services", verb: "get", namespace, name })),
    ...(options.publishService === "" && options.publishStatusAddress === ""
      ? [{ group: "", resource: "nodes", verb: "get", namespace: "" }]
      : []),
    ...(options.disableLeaderElection ? [] : ["get", "update", "create"].map((verb) => ({ ...lease, verb }))),
  ];
}

function textOf(right: Right): string {
  return `${right.verb} ${right.resource} in ${right.namespace === "" ? "the cluster" : right.namespace}`;
}

/** What the controller asks for and may not do. Without cluster role IngressClasses and nodes stay unread, which it stands. */
export function missingRights(release: Release): readonly string[] {
  const account = controllerOf(release).spec.template.spec.serviceAccountName as string;
  const rules = rulesOf(release, account);
  const parsed = parseFlags(flagsOf(release));
  if ("error" in parsed) return [parsed.error];
  const scoped = ofKind(release, "ClusterRole").every((role) => role.metadata.labels?.["app.kubernetes.io/component"] !== "controller");
  const dispensable = new Set(scoped ? ["ingressclasses", "nodes"] : []);
  return wantedBy(parsed.ok, release.namespace)
    .filter((right) => !dispensable.has(right.resource) && !allowed(rules, right))
    .map((right) => `the controller may not ${textOf(right)}`);
}

/** The Jobs read and write the Secret by name, and the webhook configuration. */
export function missingJobRights(release: Release): readonly string[] {
  return ofKind(release, "Job").flatMap((job) => {
    const { serviceAccountName, containers } = job.spec.template.spec;
    const args = containers[0].args as readonly string[];
    const flag = (name: string) => args.find((one) => one.startsWith(`--${name}=`))?.slice(name.length + 3);
    const secret = { group: "", resource: "secrets", namespace: release.namespace, name: flag("secret-name")! };
    const hook = {
      group: "admissionregistration.k8s.io",
      resource: "validatingwebhookconfigurations",
      namespace: "",
      name: flag("webhook-name"),
    };
    const verbs = args[0] === "create" ? ["get", "create", "update"].map((verb) => ({ ...secret, verb })) : [{ ...secret, verb: "get" }];
    const wanted: Right[] = [...verbs, ...(args[0] === "patch" ? ["get", "update"].map((verb) => ({ ...hook, verb })) : [])] as Right[];
    const rules = rulesOf(release, serviceAccountName);
    return wanted.filter((right) => !allowed(rules, right)).map((right) => `Job ${job.metadata.name} may not ${textOf(right)}`);
  });
}

const writes = new Set(["create", "update", "patch", "delete", "deletecollection", "*", "bind", "escalate", "impersonate"]);
/** All that the controller ever writes. */
const written = new Set(["events", "leases", "ingresses/status"]);

/** Rights that nothing here needs. */
export function needlessRights(release: Release): readonly string[] {
  const account = controllerOf(release).spec.template.spec.serviceAccountName as string;
  const ours = rulesOf(release, account).flatMap((rule) =>
    rule.resources.filter((resource) => !written.has(resource) && rule.verbs.some((verb) => writes.has(verb))),
  );
  const wild = ofKind(release, "Role", "ClusterRole").filter((role) => JSON.stringify(role.rules).includes('"*"'));
  return [
    ...ours.map((resource) => `the controller may write ${resource}`),
    ...wild.map((role) => `${role.kind} ${role.metadata.name} has a wildcard`),
  ];
}
