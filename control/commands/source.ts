/** Where objects come from: a folder, or an API server with what the flags name. */

import type { KubeConfig } from "@kubernetes/client-node";
import { namespacedName, type Options } from "../options/flags.ts";
import type { Logger } from "../run/logger.ts";
import { ClusterSource, type Followed, followedFor } from "../source/cluster.ts";
import { FolderSource } from "../source/folder.ts";
import type { KindName, Source } from "../source/source.ts";

/** Without a config --manifests is followed. */
export function openSource(options: Options, config: KubeConfig | undefined, logger: Logger): Source {
  if (config === undefined) return new FolderSource({ path: options.manifests, logger });
  const kinds: KindName[] = ["Ingress", "IngressClass", "Service", "EndpointSlice", "Secret", "ConfigMap"];
  if (options.watchNamespaceSelector !== "") kinds.push("Namespace");
  const named: [KindName, string][] = [
    ["ConfigMap", options.configmap],
    ["ConfigMap", options.tcpServicesConfigmap],
    ["ConfigMap", options.udpServicesConfigmap],
    ["Service", options.defaultBackendService],
    ["Service", options.publishService],
    ["Secret", options.defaultSslCertificate],
  ];
  const extras = named.flatMap(([kind, text]) => {
    const ref = namespacedName(text);
    return ref === undefined ? [] : [{ kind, ...ref }];
  });
  return new ClusterSource({
    config,
    followed: [...followedFor({ kinds, namespace: options.watchNamespace, extras }), ...placeFollowed(options)],
    logger,
    resyncMs: Math.max(0, options.syncPeriod),
  });
}

/** For --enable-topology-aware-routing: the own pod, and the nodes, whose labels tell the zone. */
function placeFollowed(options: Options): Followed[] {
  if (!options.enableTopologyAwareRouting) return [];
  const pod = { namespace: process.env.POD_NAMESPACE ?? "", query: { fieldSelector: `metadata.name=${process.env.POD_NAME ?? ""}` } };
  return [
    { kind: "Node", namespace: "", dispensable: true, query: {} },
    { kind: "Pod", dispensable: true, ...pod },
  ];
}
