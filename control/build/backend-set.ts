/** The backends of one build: made on first use by the oldest Ingress that names them, paired with canaries. */

import { names, type TrafficShapingDocument } from "../../lua-src/wire.ts";
import type { ResolvedAnnotations } from "../catalog/resolve.ts";
import type { Settings } from "../catalog/settings.ts";
import { standInId } from "../features/custom-errors.ts";
import type { Backend } from "../model/backend.ts";
import type { Finding } from "../model/finding.ts";
import type { RecordingLook } from "../objects/references.ts";
import type { Service, ServicePortRef } from "../source/kinds.ts";
import type { Accepted } from "./accept.ts";
import { type BackendRules, backendId, backendOf, defaultBackendOf, firstPortBackend } from "./backends.ts";
import { balancingOf, lostSettings } from "./balancing.ts";
import { type CanaryPair, isCanary, trafficShaping } from "./canary.ts";
import { type Location, pathsOf } from "./ingress.ts";
import { Sessions } from "./sessions.ts";

/** What a place in an Ingress makes of the Service that it names. */
interface Made {
  readonly service: Service | undefined;
  readonly zone: string | undefined;
  readonly backend: Backend;
  readonly findings: readonly Finding[];
}

/** By place. Annotations are another object for each version of an Ingress, so that all else follows from the Service. */
const memo = new WeakMap<ResolvedAnnotations, Map<string, Made>>();

export interface BackendSetOptions {
  readonly defaultBackendService: string;
  readonly disableExternalName: boolean;
  readonly zone: string | undefined;
}

export class BackendSet {
  readonly #look: RecordingLook;
  readonly #settings: Settings;
  readonly #options: BackendSetOptions;
  readonly #findings: Finding[];
  readonly #backends = new Map<string, Backend>();
  /** Which Service port a name stands for. */
  readonly #named = new Map<string, string>([[names.defaultBackend, ""]]);
  /** Backends of Ingresses that are no canaries. */
  readonly #served = new Set<string>();
  /** Who made a backend, and who named it since. */
  readonly #owners = new Map<string, Set<Accepted>>();
  readonly #policies = new Map<string, TrafficShapingDocument>();
  readonly #alternatives = new Map<string, string[]>();
  /** Canary → primaries whose session affinity holds for it as well. */
  readonly #inherits = new Map<string, string[]>();
  readonly #sessions: Sessions;

  constructor(look: RecordingLook, settings: Settings, options: BackendSetOptions, findings: Finding[]) {
    this.#look = look;
    this.#settings = settings;
    this.#options = options;
    this.#findings = findings;
    this.#sessions = new Sessions(findings);
    this.#backends.set(names.defaultBackend, this.#defaultBackend());
  }

  #rules(owner: Accepted | undefined): BackendRules {
    return {
      serviceUpstream: owner === undefined ? this.#settings["service-upstream"] : (owner.annotations.values["service-upstream"] as boolean),
      disableExternalName: this.#options.disableExternalName,
      zone: this.#options.zone,
    };
  }

  #defaultBackend(): Backend {
    const text = this.#options.defaultBackendService;
    if (text === "") return defaultBackendOf(undefined, this.#rules(undefined));
    const [namespace = "", name = ""] = text.split("/");
    const service = this.#look.service(namespace, name);
    if (service === undefined) {
      const about = { kind: "Service", namespace, name };
      this.#findings.push({ code: "service-missing", about, at: "--default-backend-service", text: "there is no such Service" });
    }
    return defaultBackendOf(service, this.#rules(undefined));
  }

  /** Makes the backends that an Ingress names; the first one to name a backend decides how it behaves. */
  claim(owner: Accepted): void {
    const { spec } = owner.ingress;
    const places = pathsOf(owner.ingress, owner.ref, []).map((p) => ({ ...p, at: `${p.at}.backend` }));
    if (spec.defaultBackend !== undefined) {
      const hosts = spec.rules.length === 0 ? [""] : spec.rules.map((r) => r.host.toLowerCase());
      for (const host of new Set(hosts)) {
        places.push({ host, path: "/", pathType: "Prefix", backend: spec.defaultBackend, at: "spec.defaultBackend" });
      }
    }
    this.#claimDefault(owner);
    for (const { backend, at, host, path } of places) {
      const id = backend.service === undefined ? undefined : this.#make(owner, backend.service.name, backend.service.port, at);
      if (id === undefined) this.#findings.push({ code: "backend-unsupported", about: owner.ref, at, text: "the backend is no Service" });
      else if (!isCanary(owner)) this.#sessions.claim(id, owner, host, path);
    }
  }

  /** Names may run together ("a-b" and "c", "a" and "b-c"): whoever comes later gets one that no other can have. */
  idOf(namespace: string, service: string, port: ServicePortRef): string {
    const plain = backendId(namespace, service, port);
    const whole = `${namespace}/${service}/${port.name ?? port.number ?? ""}`;
    const owner = this.#named.get(plain);
    if (owner === undefined) this.#named.set(plain, whole);
    return owner === undefined || owner === whole ? plain : whole;
  }

  /** Annotation default-backend: the Service by its first port. */
  #claimDefault(owner: Accepted): void {
    const name = owner.annotations.values["default-backend"] as string | undefined;
    if (name === undefined) return;
    const { namespace } = owner.ref;
    const service = this.#look.service(namespace, name);
    if (service === undefined) {
      const text = `there is no Service ${namespace}/${name}; the annotation is left out`;
      this.#findings.push({ code: "service-missing", about: owner.ref, at: "default-backend", text });
      return;
    }
    const id = standInId(this.#look, namespace, name);
    if (!this.#backends.has(id)) this.#backends.set(id, firstPortBackend(id, service, this.#rules(owner)));
  }

  #make(owner: Accepted, service: string, port: ServicePortRef, at: string): string {
    const namespace = owner.ref.namespace;
    const found = this.#look.service(namespace, service);
    const id = this.idOf(namespace, service, port);
    const { backend, findings } = this.#remembered(owner, at, id, found, () => {
      const made = backendOf({ id, namespace, service, port, about: owner.ref, at }, found, this.#rules(owner));
      return { ...made, backend: { ...made.backend, document: { ...made.backend.document, ...balancingOf(owner) } } };
    });
    this.#findings.push(...findings);
    if (!this.#backends.has(backend.id)) this.#backends.set(backend.id, backend);
    this.#join(owner, backend.id);
    // a Service may be a canary here and stand for itself there
    if (!isCanary(owner)) this.#served.add(backend.id);
    else if (!this.#policies.has(backend.id)) this.#policies.set(backend.id, trafficShaping(owner));
    return backend.id;
  }

  #remembered(owner: Accepted, at: string, id: string, service: Service | undefined, make: () => Pick<Made, "backend" | "findings">): Made {
    const { zone } = this.#options;
    const places = memo.get(owner.annotations) ?? new Map<string, Made>();
    memo.set(owner.annotations, places);
    const known = places.get(at);
    if (known !== undefined && known.backend.id === id && known.service === service && known.zone === zone) return known;
    const made = { ...make(), service, zone };
    places.set(at, made);
    return made;
  }

  #join(owner: Accepted, id: string): void {
    const owners = this.#owners.get(id) ?? new Set();
    const [first] = owners;
    if (first !== undefined && !owners.has(owner)) {
      const lost = lostSettings(id, owner, first);
      if (lost !== undefined) this.#findings.push(lost);
    }
    this.#owners.set(id, owners.add(owner));
  }

  /** Backend of a location; the global default backend where it names none. */
  of(location: Location): string {
    const service = location.backend?.service;
    if (service === undefined || location.owner === undefined) return names.defaultBackend;
    return this.idOf(location.owner.ref.namespace, service.name, service.port);
  }

  attach({ canary, id, primaries }: CanaryPair): void {
    for (const primary of primaries) {
      const list = this.#alternatives.get(primary) ?? [];
      if (!list.includes(id)) list.push(id);
      this.#alternatives.set(primary, list);
    }
    if (canary.annotations.values["affinity-canary-behavior"] === "legacy") return;
    this.#inherits.set(id, [...(this.#inherits.get(id) ?? []), ...primaries]);
  }

  /** Clients of this location get session cookies. */
  issuesAt(backend: string, host: string, path: string): boolean {
    return this.#sessions.issuesAt(backend, host, path);
  }

  #affinity(id: string): Backend["document"]["sessionAffinityConfig"] | undefined {
    for (const primary of this.#inherits.get(id) ?? []) {
      const inherited = this.#sessions.of(primary);
      if (inherited !== undefined) return inherited;
    }
    return this.#sessions.of(id);
  }

  /** Canaries that stand beside nothing are left out. */
  all(): ReadonlyMap<string, Backend> {
    const used = new Set([...this.#alternatives.values()].flat());
    const out = new Map<string, Backend>();
    for (const id of [...this.#backends.keys()].sort()) {
      const backend = this.#backends.get(id) as Backend;
      const policy = this.#policies.get(id);
      const only = policy !== undefined && !this.#served.has(id);
      if (only && !used.has(id)) continue;
      const alternativeBackends = this.#alternatives.get(id);
      const sessionAffinityConfig = this.#affinity(id);
      if (policy === undefined && alternativeBackends === undefined && sessionAffinityConfig === undefined) {
        out.set(id, backend);
        continue;
      }
      const document = {
        ...backend.document,
        ...(policy === undefined ? {} : { noServer: only, trafficShapingPolicy: policy }),
        ...(alternativeBackends === undefined ? {} : { alternativeBackends }),
        ...(sessionAffinityConfig === undefined ? {} : { sessionAffinityConfig }),
      };
      out.set(id, { ...backend, document });
    }
    return out;
  }
}
