/** Names of things in the user's cluster, as findings, logs and documents print them. */

export interface ObjectRef {
  readonly kind: string;
  /** Empty for cluster-scoped objects. */
  readonly namespace: string;
  readonly name: string;
}

/** "Ingress default/web", "IngressClass nginx". */
export function refText(ref: ObjectRef): string {
  return ref.namespace === "" ? `${ref.kind} ${ref.name}` : `${ref.kind} ${ref.namespace}/${ref.name}`;
}

/** "Ingress/default/web": one text per object, usable as a key. */
export function refKey(ref: ObjectRef): string {
  return `${ref.kind}/${ref.namespace}/${ref.name}`;
}
