import { expect, test } from "vitest";
import { addressesOfNodes, addressesOfService, addressesOfText, sameAddresses } from "../../../control/cluster/addresses.ts";
import { reduceObject, type Service } from "../../../control/source/kinds.ts";

function service(spec: object, addresses: readonly object[] = []): Service {
  const reduced = reduceObject("Service", {
    metadata: { name: "s", namespace: "n" },
    spec,
    status: { loadBalancer: { ingress: addresses } },
  });
  if ("error" in reduced) throw new Error(reduced.error.text);
  return reduced.ok as Service;
}

test("fixed addresses: names and addresses of both families, sorted, each once", () => {
  expect(addressesOfText(" 10.0.0.2,lb.test, 2001:db8::1,10.0.0.2,,")).toEqual([
    { ip: "10.0.0.2" },
    { ip: "2001:db8::1" },
    { hostname: "lb.test" },
  ]);
  expect(addressesOfText("")).toEqual([]);
});

test("a published Service by its type", () => {
  expect(addressesOfService(service({ type: "ExternalName", externalName: "lb.test" }))).toEqual([{ hostname: "lb.test" }]);
  expect(addressesOfService(service({ type: "ClusterIP", clusterIP: "10.96.0.5", externalIPs: ["192.0.2.1"] }))).toEqual([
    { ip: "10.96.0.5" },
  ]);
  expect(addressesOfService(service({ type: "ClusterIP", clusterIP: "None" }))).toEqual([]);
  expect(addressesOfService(service({ type: "NodePort", clusterIP: "10.96.0.5" }))).toEqual([{ ip: "10.96.0.5" }]);
  expect(addressesOfService(service({ type: "NodePort", clusterIP: "10.96.0.5", externalIPs: ["192.0.2.1"] }))).toEqual([
    { ip: "192.0.2.1" },
  ]);
  const balanced = service({ type: "LoadBalancer", externalIPs: ["192.0.2.1", "203.0.113.1"] }, [
    { ip: "203.0.113.1" },
    { hostname: "lb.test" },
    {},
  ]);
  expect(addressesOfService(balanced)).toEqual([{ ip: "192.0.2.1" }, { ip: "203.0.113.1" }, { hostname: "lb.test" }]);
});

test("nodes: the external address before the internal one, unless the flag asks for that", () => {
  const both = {
    addresses: [
      { type: "InternalIP", address: "10.0.0.1" },
      { type: "ExternalIP", address: "203.0.113.1" },
    ],
  };
  const inner = {
    addresses: [
      { type: "Hostname", address: "n2" },
      { type: "InternalIP", address: "10.0.0.2" },
    ],
  };
  expect(addressesOfNodes([inner, both, both], false)).toEqual([{ ip: "10.0.0.2" }, { ip: "203.0.113.1" }]);
  expect(addressesOfNodes([both, inner], true)).toEqual([{ ip: "10.0.0.1" }, { ip: "10.0.0.2" }]);
  expect(addressesOfNodes([{ addresses: [] }], false)).toEqual([]);
});

test("order does not count, everything else does", () => {
  expect(sameAddresses([{ ip: "1.1.1.1" }, { hostname: "a" }], [{ hostname: "a" }, { ip: "1.1.1.1" }])).toBe(true);
  expect(sameAddresses([{ ip: "1.1.1.1" }], [{ hostname: "1.1.1.1" }])).toBe(false);
  expect(sameAddresses([{ ip: "1.1.1.1" }], [])).toBe(false);
});
