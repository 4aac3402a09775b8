/** Which Ingresses are ours, oldest first. */

import type { Finding } from "../model/finding.ts";
import type { Ingress, IngressClass, Namespace } from "../source/kinds.ts";
import { matchesSelector, type Selector } from "./selector.ts";

export interface ClassOptions {
  readonly controllerClass: string;
  readonly ingressClass: string;
  readonly ingressClassByName: boolean;
  readonly watchIngressWithoutClass: boolean;
  readonly watchNamespace: string;
  readonly watchNamespaceSelector: Selector | undefined;
  readonly disableCatchAll: boolean;
}

export interface ClassLook {
  isReadable(kind: "IngressClass"): boolean;
  ingressClass(name: string): IngressClass | undefined;
  namespaceObject(name: string): Namespace | undefined;
}

const classAnnotation = "kubernetes.io/ingress.class";

/** ours: the Ingress counts. finding: what its owner should know of the decision. */
export function isOurs(ingress: Ingress, options: ClassOptions, look: ClassLook): { readonly ours: boolean; readonly finding?: Finding } {
  const { namespace } = ingress.metadata;
  if (options.watchNamespace !== "" && namespace !== options.watchNamespace) return { ours: false };
  if (options.watchNamespaceSelector !== undefined) {
    const labels = look.namespaceObject(namespace)?.metadata.labels;
    if (labels === undefined || !matchesSelector(options.watchNamespaceSelector, labels)) return { ours: false };
  }
  const byClass = hasOurClass(ingress, options, look);
  if (!byClass.ours) return byClass;
  if (options.disableCatchAll && ingress.spec.defaultBackend !== undefined) return { ours: false };
  return byClass;
}

function hasOurClass(ingress: Ingress, options: ClassOptions, look: ClassLook): { readonly ours: boolean; readonly finding?: Finding } {
  const name = ingress.spec.ingressClassName;
  if (name !== undefined) {
    const found = look.ingressClass(name);
    // Roles of one namespace cannot read classes: then the name has to do, and nobody else's Ingress is adopted.
    if (found === undefined && !look.isReadable("IngressClass")) return { ours: name === options.ingressClass };
    if (found === undefined) return { ours: false, finding: missingClass(ingress, name) };
    return {
      ours: found.spec.controller === options.controllerClass || (options.ingressClassByName && name === options.ingressClass),
    };
  }
  const annotation = ingress.metadata.annotations[classAnnotation];
  if (annotation !== undefined) return { ours: annotation === options.ingressClass };
  return { ours: options.watchIngressWithoutClass };
}

function missingClass(ingress: Ingress, name: string): Finding {
  return {
    code: "class-missing",
    about: { kind: "Ingress", namespace: ingress.metadata.namespace, name: ingress.metadata.name },
    at: "spec.ingressClassName",
    text: `there is no IngressClass ${name}`,
  };
}

/** Oldest first; equal times by namespace/name descending (as users' conflicts were always settled). */
export function byAge(a: Ingress, b: Ingress): number {
  const at = a.metadata.creationTimestamp;
  const bt = b.metadata.creationTimestamp;
  if (at !== bt) return Date.parse(at) - Date.parse(bt) || (at < bt ? -1 : 1);
  const an = `${a.metadata.namespace}/${a.metadata.name}`;
  const bn = `${b.metadata.namespace}/${b.metadata.name}`;
  return an === bn ? 0 : an > bn ? -1 : 1;
}
