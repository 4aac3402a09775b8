/** GeoIP databases by edition → the variables that they give. */

import type { GeoDatabase } from "./conf-view.ts";

/** A database that is there. */
export interface GeoFile {
  readonly edition: string;
  readonly path: string;
  /** Tells one version of the file from another. */
  readonly stamp: string;
}

type Variables = Readonly<Record<string, readonly string[]>>;

const city: Variables = {
  geoip2_city_country_code: ["country", "iso_code"],
  geoip2_city_country_name: ["country", "names", "en"],
  geoip2_city_country_geoname_id: ["country", "geoname_id"],
  geoip2_city: ["city", "names", "en"],
  geoip2_city_geoname_id: ["city", "geoname_id"],
  geoip2_postal_code: ["postal", "code"],
  geoip2_dma_code: ["location", "metro_code"],
  geoip2_latitude: ["location", "latitude"],
  geoip2_longitude: ["location", "longitude"],
  geoip2_time_zone: ["location", "time_zone"],
  geoip2_region_code: ["subdivisions", "0", "iso_code"],
  geoip2_region_name: ["subdivisions", "0", "names", "en"],
  geoip2_region_geoname_id: ["subdivisions", "0", "geoname_id"],
  geoip2_subregion_code: ["subdivisions", "1", "iso_code"],
  geoip2_subregion_name: ["subdivisions", "1", "names", "en"],
  geoip2_subregion_geoname_id: ["subdivisions", "1", "geoname_id"],
  geoip2_city_continent_code: ["continent", "code"],
  geoip2_city_continent_name: ["continent", "names", "en"],
};

const country: Variables = {
  geoip2_country_code: ["country", "iso_code"],
  geoip2_country_name: ["country", "names", "en"],
  geoip2_country_geoname_id: ["country", "geoname_id"],
  geoip2_continent_code: ["continent", "code"],
  geoip2_continent_name: ["continent", "names", "en"],
  geoip2_continent_geoname_id: ["continent", "geoname_id"],
};

const asn: Variables = { geoip2_asn: ["autonomous_system_number"], geoip2_org: ["autonomous_system_organization"] };

const byEdition: Readonly<Record<string, Variables>> = {
  "GeoLite2-City": city,
  "GeoIP2-City": city,
  "GeoLite2-Country": country,
  "GeoIP2-Country": country,
  "GeoLite2-ASN": asn,
  "GeoIP2-ASN": asn,
  "GeoIP2-Anonymous-IP": {
    geoip2_is_anon: ["is_anonymous"],
    geoip2_is_anonymous: ["is_anonymous"],
    geoip2_is_anonymous_vpn: ["is_anonymous_vpn"],
    geoip2_is_hosting_provider: ["is_hosting_provider"],
    geoip2_is_public_proxy: ["is_public_proxy"],
    geoip2_is_tor_exit_node: ["is_tor_exit_node"],
  },
  "GeoIP2-Connection-Type": { geoip2_connection_type: ["connection_type"] },
  "GeoIP2-Domain": { geoip2_domain: ["domain"] },
  "GeoIP2-ISP": {
    geoip2_isp: ["isp"],
    geoip2_isp_org: ["organization"],
    geoip2_asn: ["autonomous_system_number"],
  },
};

/** A variable belongs to the first database that gives it: nginx takes each name once. */
export function geoDatabases(files: readonly GeoFile[], reloadMinutes: number): GeoDatabase[] {
  const taken = new Set<string>();
  return files.flatMap(({ edition, path, stamp }) => {
    const own = Object.entries(byEdition[edition] ?? {}).filter(([name]) => !taken.has(name));
    for (const [name] of own) taken.add(name);
    return own.length === 0 ? [] : [{ path, stamp, reloadMinutes: Math.max(0, reloadMinutes), variables: Object.fromEntries(own) }];
  });
}
