/** Flags → how to reach and trust the API server. */

import { existsSync, readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { KubeConfig } from "@kubernetes/client-node";
import { parse } from "yaml";

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
    withTokenFile(config, kubeconfig);
    if (apiserverHost === "") return withoutTls(config);
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
    return withoutTls(config);
  }
  if (!env.KUBERNETES_SERVICE_HOST) {
    throw new Error("not in a cluster (KUBERNETES_SERVICE_HOST is not set): give --kubeconfig, --apiserver-host or --manifests");
  }
  config.loadFromCluster();
  return config;
}

/** The library wants to be told that plain http, as of kubectl proxy, is meant. */
function withoutTls(config: KubeConfig): KubeConfig {
  config.clusters = config.clusters.map((cluster) => (cluster.server.startsWith("http:") ? { ...cluster, skipTLSVerify: true } : cluster));
  return config;
}

/** The library passes over a user's tokenFile. */
function withTokenFile(config: KubeConfig, file: string): void {
  const { users = [] } = (parse(readFileSync(file, "utf8")) ?? {}) as {
    readonly users?: readonly { readonly name: string; readonly user?: { readonly tokenFile?: string } }[];
  };
  config.users = config.users.map((user) => {
    const tokenFile = users.find(({ name }) => name === user.name)?.user?.tokenFile;
    if (tokenFile === undefined) return user;
    const { token: _token, ...rest } = user;
    return { ...rest, authProvider: { name: "tokenFile", config: { tokenFile: resolve(dirname(file), tokenFile) } } };
  });
}
