/** What --version prints. */

import { findNginx, NoNginx } from "../run/nginx-install.ts";
import { version } from "../version.ts";

/** As people and scripts look for it after `kubectl exec`: the release, and the nginx that would be run. */
export function versionBlock(nginxBinary: string, nginxModules: readonly string[]): string {
  const rule = "-".repeat(79);
  const lines = [`  Release:       ${version}`, `  nginx version: ${nginxVersion(nginxBinary, nginxModules)}`];
  return [rule, "Sluice, ingress controller for Kubernetes", ...lines, rule].join("\n");
}

function nginxVersion(binary: string, modules: readonly string[]): string {
  try {
    return `nginx/${findNginx(binary, modules).version}`;
  } catch (error) {
    if (error instanceof NoNginx) return `none (${error.message})`;
    throw error;
  }
}
