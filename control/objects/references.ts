/** Reads objects for one build and remembers what was asked for, found or not. */

import type { Look } from "../catalog/feature.ts";
import { refKey } from "../model/ids.ts";
import type { ConfigMap, Namespace, Node, Pod, Secret, Service } from "../source/kinds.ts";
import type { ObjectsView } from "./objects-view.ts";

export class RecordingLook implements Look {
  readonly asked = new Set<string>();
  readonly #objects: ObjectsView;

  constructor(objects: ObjectsView) {
    this.#objects = objects;
  }

  secret(namespace: string, name: string): Secret | undefined {
    this.asked.add(refKey({ kind: "Secret", namespace, name }));
    return this.#objects.secret(namespace, name);
  }

  configMap(namespace: string, name: string): ConfigMap | undefined {
    this.asked.add(refKey({ kind: "ConfigMap", namespace, name }));
    return this.#objects.configMap(namespace, name);
  }

  service(namespace: string, name: string): Service | undefined {
    this.asked.add(refKey({ kind: "Service", namespace, name }));
    return this.#objects.service(namespace, name);
  }

  node(name: string): Node | undefined {
    this.asked.add(refKey({ kind: "Node", namespace: "", name }));
    return this.#objects.node(name);
  }

  pod(namespace: string, name: string): Pod | undefined {
    this.asked.add(refKey({ kind: "Pod", namespace, name }));
    return this.#objects.pod(namespace, name);
  }

  namespaceObject(name: string): Namespace | undefined {
    this.asked.add(refKey({ kind: "Namespace", namespace: "", name }));
    return this.#objects.namespaceObject(name);
  }
}
