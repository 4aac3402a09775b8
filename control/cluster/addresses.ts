/** Flags, Service or nodes → the addresses that Ingress status names. */

import { isIP } from "node:net";
import type { LoadBalancerAddress, Service } from "../source/kinds.ts";

/** --publish-status-address: comma list of addresses and names. */
export function addressesOfText(text: string): LoadBalancerAddress[] {
  return sorted(
    text
      .split(",")
      .map((part) => part.trim())
      .filter((part) => part !== "")
      .map(addressOf),
  );
}

/** --publish-service. */
export function addressesOfService(service: Service): LoadBalancerAddress[] {
  const { type, clusterIP, externalName, externalIPs } = service.spec;
  if (type === "ExternalName") return externalName === "" ? [] : [{ hostname: externalName }];
  const internal = clusterIP === "" || clusterIP === "None" ? [] : [{ ip: clusterIP }];
  const external = externalIPs.map((ip) => ({ ip }));
  if (type === "ClusterIP") return internal;
  if (type === "NodePort") return sorted(external.length > 0 ? external : internal);
  const { loadBalancer } = service.status;
  const balanced = loadBalancer.filter(({ ip, hostname }) => (ip ?? "") !== "" || (hostname ?? "") !== "");
  return sorted([...balanced, ...external.filter(({ ip }) => !balanced.some((known) => known.ip === ip))]);
}

export interface NodeAddresses {
  readonly addresses: readonly { readonly type: string; readonly address: string }[];
}

/** Of the nodes that run a ready pod of ours: the external address, else the internal one; the internal one with the flag. */
export function addressesOfNodes(nodes: readonly NodeAddresses[], internal: boolean): LoadBalancerAddress[] {
  return sorted(
    nodes.flatMap(({ addresses }) => {
      const find = (type: string) => addresses.find((each) => each.type === type && each.address !== "")?.address;
      const address = (internal ? undefined : find("ExternalIP")) ?? find("InternalIP");
      return address === undefined ? [] : [addressOf(address)];
    }),
  );
}

function addressOf(text: string): LoadBalancerAddress {
  return isIP(text) === 0 ? { hostname: text } : { ip: text };
}

/** By name, then by address, each once. */
function sorted(list: readonly LoadBalancerAddress[]): LoadBalancerAddress[] {
  const byKey = new Map(list.map((address) => [keyOf(address), address]));
  return [...byKey].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)).map(([, address]) => address);
}

function keyOf({ hostname, ip }: LoadBalancerAddress): string {
  return `${hostname ?? ""} ${ip ?? ""}`;
}

/** Whatever their order. */
export function sameAddresses(a: readonly LoadBalancerAddress[], b: readonly LoadBalancerAddress[]): boolean {
  const keys = new Set(a.map(keyOf));
  return a.length === b.length && b.every((address) => keys.has(keyOf(address)));
}
