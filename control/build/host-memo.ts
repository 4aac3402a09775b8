/**
 * A host that comes out as it did in the build before is the same object again, and whoever remembers by it (documents,
 * profiles) has nothing to do: at thousands of Ingresses a change costs what it changes, and a walk over the rest.
 */

import type { Look } from "../catalog/feature.ts";
import type { ResolvedAnnotations } from "../catalog/resolve.ts";
import type { Settings } from "../catalog/settings.ts";
import type { Host } from "../model/model.ts";
import type { Ingress } from "../source/kinds.ts";
import type { HostLocations } from "./ingress.ts";

/** All that decides a host, but for the objects that its Ingresses name. */
export interface HostInputs {
  readonly settings: Settings;
  readonly httpsPort: number;
  readonly certificate: string | undefined;
  readonly mapped: boolean;
  /** Its Ingresses, oldest first: the locations follow from them. */
  readonly owners: HostLocations["owners"];
  /** Of each location: backend, and what its balancing asks of the route. */
  readonly targets: readonly string[];
}

interface Remembered<T> {
  readonly settings: Settings;
  readonly httpsPort: number;
  readonly certificate: string | undefined;
  readonly mapped: boolean;
  /** Another object for each Ingress and each version of it. */
  readonly annotations: readonly ResolvedAnnotations[];
  readonly targets: readonly string[];
  readonly asked: readonly Asked[];
  readonly result: T;
}

interface Asked {
  readonly read: (look: Look) => unknown;
  readonly found: unknown;
}

/** Remembers every answer. */
class TracedLook implements Look {
  readonly asked: Asked[] = [];
  readonly #look: Look;

  constructor(look: Look) {
    this.#look = look;
  }

  secret(namespace: string, name: string): ReturnType<Look["secret"]> {
    return this.#ask((look) => look.secret(namespace, name));
  }

  configMap(namespace: string, name: string): ReturnType<Look["configMap"]> {
    return this.#ask((look) => look.configMap(namespace, name));
  }

  service(namespace: string, name: string): ReturnType<Look["service"]> {
    return this.#ask((look) => look.service(namespace, name));
  }

  #ask<T>(read: (look: Look) => T): T {
    const found = read(this.#look);
    this.asked.push({ read, found });
    return found;
  }
}

/** `T`: the host and what was found out with it. */
export class HostMemo<T extends { readonly host: Host }> {
  /** By the oldest Ingress of the host, so that it goes with that; then by name. */
  readonly #byIngress = new WeakMap<Ingress, Map<string, Remembered<T>>>();

  of(name: string, inputs: HostInputs, look: Look, make: (look: Look) => T): T {
    const first = inputs.owners[0]?.ingress;
    if (first === undefined) return make(look);
    const hosts = this.#byIngress.get(first) ?? new Map<string, Remembered<T>>();
    this.#byIngress.set(first, hosts);
    const known = hosts.get(name);
    // asking again also notes the references of this build
    if (known !== undefined && isSame(known, inputs) && known.asked.every(({ read, found }) => read(look) === found)) return known.result;
    const traced = new TracedLook(look);
    const result = make(traced);
    const { owners, ...rest } = inputs;
    hosts.set(name, {
      ...rest,
      annotations: owners.map((o) => o.annotations),
      asked: traced.asked,
      result,
    });
    return result;
  }
}

function isSame(known: Remembered<unknown>, inputs: HostInputs): boolean {
  return (
    known.settings === inputs.settings &&
    known.httpsPort === inputs.httpsPort &&
    known.certificate === inputs.certificate &&
    known.mapped === inputs.mapped &&
    known.annotations.length === inputs.owners.length &&
    inputs.owners.every((o, i) => o.annotations === known.annotations[i]) &&
    known.targets.length === inputs.targets.length &&
    inputs.targets.every((target, i) => target === known.targets[i])
  );
}
