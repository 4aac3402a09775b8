// The world of --source=cluster needs a real API server; this says why it is not there.
import { existsSync } from "node:fs";

/** Why cases cannot run against a cluster here. */
export function clusterObstacle(environment: Readonly<Record<string, string | undefined>>): string {
  const lacking = ["KUBE_APISERVER", "ETCD"].filter((name) => {
    const path = environment[name];
    return path === undefined || !existsSync(path);
  });
  if (lacking.length > 0) return `--source=cluster needs the programs kube-apiserver and etcd; set ${lacking.join(" and ")} to their paths`;
  return "--source=cluster comes with a later issue";
}
