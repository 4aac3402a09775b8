/** Flags → what a replica does in its cluster beside serving: Lease, status of Ingresses, Events. */

import type { KubeConfig } from "@kubernetes/client-node";
import type { BuildOptions } from "../build/build.ts";
import { isOurs } from "../build/class.ts";
import { addressesOfNodes, addressesOfService, addressesOfText } from "../cluster/addresses.ts";
import { type EventObject, EventRecorder } from "../cluster/events.ts";
import { Leader } from "../cluster/leader.ts";
import { OwnPods, podIdentity } from "../cluster/pod.ts";
import { Reports } from "../cluster/reports.ts";
import { StatusWriter } from "../cluster/status.ts";
import type { Loop } from "../loop.ts";
import type { Objects } from "../objects/objects.ts";
import { namespacedName, type Options } from "../options/flags.ts";
import type { Board } from "../report/board.ts";
import type { Logger } from "../run/logger.ts";
import { type ApiServer, apiErrorOf, connectApiServer } from "../source/api-server.ts";
import type { Ingress, LoadBalancerAddress } from "../source/kinds.ts";
import type { KubeObject, Sink } from "../source/source.ts";

export interface ClusterDuties {
  /** Events of the source on their way to `to`. */
  sink(to: Sink): Sink;
  /** Undefined: it succeeded. */
  reloaded(problem: string | undefined): void;
  /** Which Ingresses are ours may have changed. */
  built(): void;
  start(): void;
  stop(): Promise<void>;
  readonly leader: Leader | undefined;
}

interface Parts {
  readonly options: Options;
  readonly config: KubeConfig;
  readonly objects: Objects;
  readonly loop: () => Loop;
  readonly board: Board;
  readonly buildOptions: () => BuildOptions;
  readonly logger: Logger;
}

const stopMs = 10_000;

/** Rejects with a sentence for the user when an object that a flag names cannot be read. */
export async function openClusterDuties(parts: Parts): Promise<ClusterDuties> {
  const { options, objects, board } = parts;
  const logger = parts.logger.named("cluster");
  const self = podIdentity();
  const api = connectApiServer(parts.config);
  await checkNamed(api, options);
  const pods = new OwnPods(api, self);
  const life = new AbortController();
  let own: EventObject | undefined;
  const knowSelf = async () => {
    const uid = await pods.uid(life.signal).catch(() => "");
    own = { apiVersion: "v1", kind: "Pod", ...self, uid };
  };
  const events = new EventRecorder({ api, instance: self.name, logger });
  const reports = new Reports({
    events,
    objects,
    self: () => own,
    speaks: () => leader?.leading ?? true,
    isOurs: (ingress) => isOurs(ingress, parts.buildOptions(), objects).ours,
    configMaps: new Set([options.configmap, options.tcpServicesConfigmap, options.udpServicesConfigmap]),
    silent: options.disableSyncEvents,
  });
  const addresses = addressSource(options, objects, pods);
  const status = new StatusWriter({
    api,
    ingresses: () => parts.loop().accepted.flatMap(({ ref }) => (objects.get(ref) as Ingress | undefined) ?? []),
    addresses,
    intervalMs: options.statusUpdateInterval * 1000,
    logger,
  });
  const leader = options.disableLeaderElection
    ? undefined
    : new Leader({
        api,
        namespace: self.namespace,
        name: options.electionId,
        identity: self.name,
        ttlMs: options.electionTtl,
        logger,
        onChange: (leading) => {
          if (!leading) void status.stop();
          else if (options.updateStatus) status.start();
          // What was found before somebody spoke for it.
          if (leading) for (const finding of board.current()) reports.finding(finding);
        },
      });
  board.onNew((finding) => reports.finding(finding));
  return {
    leader,
    sink: (to) => ({
      change: (batch) => {
        if (parts.loop().status.synced) reports.changes(batch);
        to.change(batch);
        if (batch.some((event) => event.type === "upsert" && touchesStatus(event.object, options.publishService))) status.poke();
      },
      findings: (findings) => to.findings(findings),
      readable: (kind, readable) => to.readable?.(kind, readable),
      synced: () => {
        to.synced();
        leader?.start();
      },
    }),
    reloaded: (problem) => reports.reloaded(problem),
    built: () => status.poke(),
    start: () => void knowSelf(),
    stop: async () => {
      await status.stop();
      if (options.updateStatus && leader !== undefined) await clearIfLast({ options, status, pods, address: addresses, logger });
      await leader?.stop();
      await events.stop(2000);
      life.abort();
      api.close();
    },
  };
}

function touchesStatus({ kind, metadata }: KubeObject, published: string): boolean {
  return kind === "Ingress" || (kind === "Service" && `${metadata.namespace}/${metadata.name}` === published);
}

type AddressSource = (signal: AbortSignal) => Promise<readonly LoadBalancerAddress[] | undefined>;

function addressSource(options: Options, objects: Objects, pods: OwnPods): AddressSource {
  if (options.publishStatusAddress !== "") {
    const fixed = addressesOfText(options.publishStatusAddress);
    return async () => fixed;
  }
  const published = namespacedName(options.publishService);
  if (published !== undefined) {
    return async () => {
      const service = objects.service(published.namespace, published.name);
      return service === undefined ? undefined : addressesOfService(service);
    };
  }
  let known: { readonly at: number; readonly addresses: readonly LoadBalancerAddress[] } | undefined;
  return async (signal) => {
    // Asked at each change of an Ingress; pods and nodes change seldom.
    if (known !== undefined && Date.now() - known.at < options.statusUpdateInterval * 1000) return known.addresses;
    known = { at: Date.now(), addresses: addressesOfNodes(await pods.nodes(signal), options.reportNodeInternalIpAddress) };
    return known.addresses;
  };
}

/** The addresses lead nowhere once the last replica has gone. */
async function clearIfLast(of: {
  readonly options: Options;
  readonly status: StatusWriter;
  readonly pods: OwnPods;
  readonly address: AddressSource;
  readonly logger: Logger;
}): Promise<void> {
  if (!of.options.updateStatusOnShutdown) {
    of.logger.info("the status of Ingresses stays (--update-status-on-shutdown=false)");
    return;
  }
  const signal = AbortSignal.timeout(stopMs);
  try {
    const addresses = await of.address(signal);
    if ((addresses?.length ?? 0) > 1 || (await of.pods.others(signal)) > 0) return;
    await of.status.clear(signal);
  } catch (error) {
    of.logger.warning("the status of Ingresses cannot be cleared", { error: error as Error });
  }
}

/** Objects that flags name must be there at the start; an API server that is away for the moment is no reason to give up. */
async function checkNamed(api: ApiServer, options: Options): Promise<void> {
  const named: [string, string, string][] = [];
  for (const [flag, text] of [
    ["publish-service", options.publishService],
    ["default-backend-service", options.defaultBackendService],
  ] as const) {
    const ref = namespacedName(text);
    if (ref !== undefined) named.push([flag, text, `/api/v1/namespaces/${ref.namespace}/services/${ref.name}`]);
  }
  if (options.watchNamespace !== "")
    named.push(["watch-namespace", options.watchNamespace, `/api/v1/namespaces/${options.watchNamespace}`]);
  for (const [flag, text, path] of named) {
    try {
      await api.get(path, {}, AbortSignal.timeout(10_000));
    } catch (error) {
      const { status } = apiErrorOf(error);
      if (status === 404) throw new Error(`flag --${flag}: there is no ${text}`);
      // Reading a namespace is more than a role for one namespace allows.
      if (status === 403 && flag !== "watch-namespace") throw new Error(`flag --${flag}: the API server forbids to read ${text}`);
    }
  }
}
