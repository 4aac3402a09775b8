/** The table of `kubectl ingress-nginx ingresses`. */

interface Backend {
  readonly service?: { readonly name: string; readonly port?: { readonly number?: number; readonly name?: string } };
}

export interface RawIngress {
  readonly metadata: { readonly name: string; readonly namespace: string; readonly annotations?: Readonly<Record<string, string>> };
  readonly spec?: {
    readonly defaultBackend?: Backend;
    readonly tls?: readonly { readonly hosts?: readonly string[] }[];
    readonly rules?: readonly {
      readonly host?: string;
      readonly http?: { readonly paths: readonly { readonly path?: string; readonly backend: Backend }[] };
    }[];
  };
  readonly status?: { readonly loadBalancer?: { readonly ingress?: readonly { readonly ip?: string; readonly hostname?: string }[] } };
}

export interface RawSlice {
  readonly metadata: { readonly namespace: string; readonly labels?: Readonly<Record<string, string>> };
  readonly endpoints?: readonly { readonly addresses: readonly string[] }[] | null;
}

interface Row {
  readonly host: string;
  readonly path: string;
  readonly backend: Backend | undefined;
}

export function ingressTable(
  ingresses: readonly RawIngress[],
  slices: readonly RawSlice[],
  options: { readonly host?: string; readonly namespaces: boolean },
): string {
  const counts = endpointCounts(slices);
  const head = ["INGRESS NAME", "HOST+PATH", "ADDRESSES", "TLS", "SERVICE", "SERVICE PORT", "ENDPOINTS"];
  const rows = [options.namespaces ? ["NAMESPACE", ...head] : head];
  for (const ingress of ingresses) {
    for (const row of rowsOf(ingress)) {
      if (options.host !== undefined && row.host !== options.host) continue;
      const { name, namespace } = ingress.metadata;
      const service = row.backend?.service;
      const count = service === undefined ? undefined : counts.get(`${namespace}/${service.name}`);
      const cells = [
        name,
        row.host + row.path,
        addressesOf(ingress),
        hasTls(ingress, row.host) ? "YES" : "NO",
        service?.name ?? "",
        String(service?.port?.number ?? service?.port?.name ?? ""),
        count === undefined || count === 0 ? "N/A" : String(count),
      ];
      rows.push(options.namespaces ? [namespace, ...cells] : cells);
    }
  }
  return aligned(rows);
}

function rowsOf({ spec }: RawIngress): Row[] {
  const rules = spec?.rules ?? [];
  if (rules.length === 0 && spec?.defaultBackend !== undefined) return [{ host: "*", path: "", backend: spec.defaultBackend }];
  return rules.flatMap((rule): Row[] => {
    const host = rule.host === undefined || rule.host === "" ? "*" : rule.host;
    const paths = rule.http?.paths;
    if (paths === undefined) return [{ host, path: "", backend: spec?.defaultBackend }];
    return paths.map(({ path = "", backend }) => ({ host, path, backend }));
  });
}

function hasTls({ spec }: RawIngress, host: string): boolean {
  return (spec?.tls ?? []).some(({ hosts }) => hosts?.includes(host) === true);
}

function addressesOf({ status }: RawIngress): string {
  return (status?.loadBalancer?.ingress ?? [])
    .flatMap(({ ip, hostname }) => [ip ?? "", hostname ?? ""].filter((text) => text !== ""))
    .join(",");
}

/** Not-ready ones count as well. */
function endpointCounts(slices: readonly RawSlice[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { metadata, endpoints } of slices) {
    const key = `${metadata.namespace}/${metadata.labels?.["kubernetes.io/service-name"] ?? ""}`;
    const addresses = (endpoints ?? []).reduce((sum, { addresses: list }) => sum + list.length, 0);
    counts.set(key, (counts.get(key) ?? 0) + addresses);
  }
  return counts;
}

function aligned(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]!.map((_cell, column) => Math.max(6, ...rows.map((row) => row[column]!.length + 3)));
  return rows
    .map(
      (row) =>
        `${row
          .map((cell, column) => cell.padEnd(widths[column]!))
          .join("")
          .trimEnd()}\n`,
    )
    .join("");
}
