/** Documents of the data plane and findings of the controller in words and tables. */

import type { HostDocument } from "../../lua-src/wire.ts";
import type { ReportedFinding } from "../report/board.ts";

export function routesText(hosts: readonly HostDocument[]): string {
  const rows = [["HOST", "MATCH", "PATH", "BACKEND", "PROFILE", "INGRESS"]];
  for (const host of hosts) {
    const name = host.name === "" ? "(any)" : host.name;
    const whole = wholeHost(host);
    if (whole !== undefined) rows.push([name, whole, "", "", "", ""]);
    for (const route of host.routes) {
      const { fixed } = route;
      const answer = fixed === undefined ? "" : "slash" in fixed ? `(301 to ${fixed.slash})` : `(${fixed.status})`;
      const { namespace, ingress } = route.source;
      const origin = ingress === "" ? "" : `${namespace}/${ingress}`;
      rows.push([name, route.kind, route.path, route.backend ?? answer, route.profile ?? "default", origin]);
    }
  }
  return table(rows);
}

function wholeHost(host: HostDocument): string | undefined {
  if (host.deny !== undefined) return `denied ${host.deny}`;
  if (host.aliasOf !== undefined) return `alias of ${host.aliasOf}`;
  return host.redirectTo === undefined ? undefined : `redirects to ${host.redirectTo.host}`;
}

export function findingsText(findings: readonly ReportedFinding[]): string {
  if (findings.length === 0) return "No findings.\n";
  const blocks = findings.map((finding) => {
    const at = finding.at === "" ? "" : ` ${finding.at}:`;
    const also = finding.also === undefined || finding.also.length === 0 ? "" : ` (see also ${finding.also.join(", ")})`;
    return `${finding.severity.padEnd(7)} ${finding.object}:${at} ${finding.text}${also} [${finding.code}]\n        ${finding.hint}\n`;
  });
  return blocks.join("");
}

/** Columns as wide as their widest cell, three blanks between them. */
function table(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]!.map((_cell, column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows
    .map(
      (row) =>
        `${row
          .map((cell, column) => cell.padEnd(widths[column]! + 3))
          .join("")
          .trimEnd()}\n`,
    )
    .join("");
}
