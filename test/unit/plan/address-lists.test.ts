import { expect, test } from "vitest";
import { withSharedLists } from "../../../control/plan/address-lists.ts";

const long = Array.from({ length: 20 }, (_, i) => `10.0.${i}.0/24`);
const rateLimit = { zone: "z", key: "$remote_addr", requestStatus: 503, connectionStatus: 503, connections: 1 };

test("equal long lists have one name, whichever feature has them; short ones stay where they are", () => {
  const networks = new Map<string, string>();
  const one = withSharedLists({ ipAccess: { allow: long, deny: ["10.9.9.9/32"] } }, networks);
  const two = withSharedLists({ rateLimit: { ...rateLimit, allow: [...long] }, satisfy: { any: true } }, networks);
  expect([...networks.values()]).toEqual([long.join(",")]);
  const [id] = [...networks.keys()];
  expect(one).toEqual({ ipAccess: { allow: id, deny: ["10.9.9.9/32"] } });
  expect(two).toEqual({ rateLimit: { ...rateLimit, allow: id }, satisfy: { any: true } });
});

test("other lists have other names; an empty one denies as it did", () => {
  const networks = new Map<string, string>();
  const names = [long, long.slice(1)].map((allow) => withSharedLists({ ipAccess: { allow } }, networks).ipAccess?.allow);
  expect(new Set(names).size).toBe(2);
  expect(withSharedLists({ ipAccess: { allow: [] } }, networks)).toEqual({ ipAccess: { allow: [] } });
  expect(networks.size).toBe(2);
});
