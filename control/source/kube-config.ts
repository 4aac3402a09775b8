/** Flags → how to reach and trust the API server. */

import { existsSync } from "node:fs";
import { KubeConfig } from "@kubernetes/client-node";

export interface ClusterAddress {
  readonly kubeconfig: string;
  /** URL; overrides the kubeconfig's server. */
  readonly apiserverHost: string;
  /** CA file, read only together with apiserverHost. */
  readonly certificateAuthority: string;
}

/** Throws an Error with advice when there is nothing to connect to. */
export function loadKubeConfig(address: ClusterAddress, env: NodeJS.ProcessEnv = process.env): KubeConfig {
  const config = new KubeConfig();
  const { kubeconfig, apiserverHost, certificateAuthority } = address;
  if (kubeconfig !== "") {
    if (!existsSync(kubeconfig)) throw new Error(`flag --kubeconfig: there is no file ${kubeconfig}`);
    config.loadFromFile(kubeconfig);
    if (apiserverHost === "") return config;
  }
  if (apiserverHost !== "") {
    if (!URL.canParse(apiserverHost)) throw new Error(`flag --apiserver-host must be protocol://address:port: ${apiserverHost}`);
    const cluster = config.getCurrentCluster();
    const user = config.getCurrentUser();
    const ca = certificateAuthority === "" ? cluster?.caFile : certificateAuthority;
    config.loadFromClusterAndUser(
      {
        name: "cluster",
        ...cluster,
        server: apiserverHost,
        skipTLSVerify: cluster?.skipTLSVerify ?? false,
        ...(ca === undefined ? {} : { caFile: ca }),
        // File and data exclude each other; the flag is the later word.
        ...(certificateAuthority === "" ? {} : { caData: undefined }),
      },
      user ?? { name: "user" },
    );
    return config;
  }
  if (!env.KUBERNETES_SERVICE_HOST) {
    throw new Error("not in a cluster (KUBERNETES_SERVICE_HOST is not set): give --kubeconfig, --apiserver-host or --manifests");
  }
  config.loadFromCluster();
  return config;
}
