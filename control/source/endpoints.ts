/** The older Endpoints object → raw EndpointSlices, for manifests written by hand. Fields of wrong types are left for the reduction to report. */

type Raw = Readonly<Record<string, unknown>>;

/** One slice per subset and address family; the first keeps the name, the others get -2, -3… */
export function endpointSlicesOf(endpoints: Raw): Raw[] {
  const metadata = isRecord(endpoints.metadata) ? endpoints.metadata : {};
  const slices: Raw[] = [];
  for (const subset of listOf(endpoints.subsets)) {
    const all = [...addressesOf(subset.addresses, true), ...addressesOf(subset.notReadyAddresses, false)];
    for (const family of ["IPv4", "IPv6"] as const) {
      const members = all.filter((endpoint) => endpoint.ip.includes(":") === (family === "IPv6"));
      if (members.length === 0) continue;
      const count = slices.length + 1;
      slices.push({
        metadata: {
          ...metadata,
          ...(count > 1 ? { name: `${String(metadata.name)}-${count}` } : {}),
          labels: { "kubernetes.io/service-name": metadata.name },
        },
        addressType: family,
        ports: subset.ports,
        endpoints: members.map(({ ip, ready }) => ({ addresses: [ip], conditions: { ready } })),
      });
    }
  }
  // Without an address the object still exists: its Service has no endpoints.
  const labels = { "kubernetes.io/service-name": metadata.name };
  return slices.length > 0 ? slices : [{ metadata: { ...metadata, labels }, addressType: "IPv4" }];
}

function addressesOf(list: unknown, ready: boolean): { readonly ip: string; readonly ready: boolean }[] {
  return listOf(list).map((address) => ({ ip: String(address.ip), ready }));
}

function listOf(list: unknown): Raw[] {
  return Array.isArray(list) ? list.filter(isRecord) : [];
}

function isRecord(value: unknown): value is Raw {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
