/** What a setting is: one row says all there is to know of it; parsing, docs, admission and doctor read the rows. */

import type { ClientAuthDocument, FeatureDocuments } from "../../lua-src/wire.ts";
import type { FindingCode } from "../model/finding.ts";
import type { Fixed, Protocol } from "../model/model.ts";
import type { ConfigMap, Ingress, Secret, Service } from "../source/kinds.ts";
import type { Kind } from "./kinds.ts";
import type { Settings } from "./settings.ts";

export type Risk = "low" | "medium" | "high" | "critical";
export type Scope = "path" | "host" | "backend" | "ingress";
/**
 * What a value that does not parse does:
 * - reject: the Ingress is not taken over; its last good version stays (admission refuses it)
 * - deny: the locations of the Ingress answer 503
 * - default: as if the annotation were not there
 */
export type OnInvalid = "reject" | "deny" | "default";
export type Applies = "at-once" | "profile" | "reload";
export type Support = "full" | "partial" | "none";

export interface Row<T> {
  readonly kind: Kind<T>;
  readonly default: T;
  /** Read in place of kind with --enable-annotation-validation=false: what is still safe as data. */
  readonly unvalidated?: Kind<T>;
  /** ConfigMap key that overrides the default. Often of the same name. */
  readonly configMapKey?: string;
  readonly scope: Scope;
  readonly risk: Risk;
  readonly onInvalid: OnInvalid;
  /** What stands for a value that does not parse, where that is not the default. */
  readonly invalid?: T;
  readonly applies: Applies;
  readonly support: Support;
  /** What is missing, or why there is none. */
  readonly note?: string;
  readonly doc: string;
  /** Protects the location: where it cannot be honoured the location is denied, never left open. */
  readonly guards?: true;
  /** Annotations without which this one has no effect: then a value that does not parse denies nothing. */
  readonly needs?: readonly string[];
  /** Older names, read when the row's own is absent or empty. */
  readonly aliases?: readonly string[];
}

export type AnyRow = Row<unknown>;
export type Rows = Readonly<Record<string, AnyRow>>;

export type Values<R extends Rows> = { readonly [K in keyof R]: R[K] extends Row<infer T> ? T : never };

/** Fills in what most rows share. The value type is the kind's, widened by the default (undefined: absent). */
export function row<T, const D extends T | undefined>(r: {
  readonly kind: Kind<T>;
  readonly default: D;
  readonly unvalidated?: Kind<T>;
  readonly configMapKey?: string;
  readonly scope?: Scope;
  readonly risk: Risk;
  readonly onInvalid: OnInvalid;
  readonly invalid?: T;
  readonly applies?: Applies;
  readonly support?: Support;
  readonly note?: string;
  readonly doc: string;
  readonly guards?: true;
  readonly needs?: readonly string[];
  readonly aliases?: readonly string[];
}): Row<T | D> {
  return { scope: "path", applies: "at-once", support: "full", ...r } as Row<T | D>;
}

/** What a feature's build may look at: the place it builds for. Reading an object through `look` records the reference. */
export interface Place {
  readonly ingress: Ingress;
  /** "" is the catch-all. */
  readonly host: string;
  /** As written in the Ingress. */
  readonly path: string;
  /** pathType Exact. */
  readonly exact: boolean;
  readonly protocol: Protocol;
  /** Host-wide regex mode. */
  readonly regex: boolean;
  /** A request to this host finds a certificate mapping (the Ingress's host has a tls section). */
  readonly hasCertificate: boolean;
  /** Clients of the host show certificates. */
  readonly clientAuth: ClientAuthDocument | undefined;
  /** --https-port. */
  readonly httpsPort: number;
  readonly settings: Settings;
  readonly look: Look;
  /** Ingresses of the host, oldest first: the same array for all its places. */
  readonly owners: readonly Owner[];
}

/** An Ingress of a host with the values of all rows. */
export interface Owner {
  readonly ingress: Ingress;
  readonly values: Readonly<Record<string, unknown>>;
}

/** Reads objects; what was asked for is remembered, also when it does not exist. */
export interface Look {
  secret(namespace: string, name: string): Secret | undefined;
  configMap(namespace: string, name: string): ConfigMap | undefined;
  service(namespace: string, name: string): Service | undefined;
}

/** A feature cannot honour its values: the location answers 503 and the finding says why. */
export interface Denied {
  readonly annotation: string;
  readonly code: FindingCode;
  readonly reason: string;
}

/** A value that parses but cannot have the effect it seems to ask for. */
export interface Notice {
  readonly annotation: string;
  readonly reason: string;
}

export interface Feature<R extends Rows = Rows> {
  readonly name: string;
  readonly rows: R;
  /** Per-route documents for the data plane. */
  readonly build?: (values: Values<R>, place: Place) => Partial<FeatureDocuments> | undefined;
  /** Directives for the profile, and what else it needs. */
  readonly fixed?: (values: Values<R>, place: Place) => readonly Fixed[];
  /** Told as findings; nothing else comes of them. */
  readonly notices?: (values: Values<R>, place: Place) => readonly Notice[];
  /** Reasons to deny, from objects that the values name. */
  readonly deny?: (values: Values<R>, place: Place) => Denied | undefined;
}

/** Keeps the row types for build and fixed while they are written. */
export function feature<const R extends Rows>(f: Feature<R>): Feature<R> {
  return f;
}
