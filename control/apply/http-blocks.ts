/** ConfView → the blocks of http that are no maps: GeoIP databases, trusted peers. */
import type { ConfView, GeoDatabase } from "../plan/conf-view.ts";
import { printDirective, quoteArgument } from "../plan/directive.ts";

/** One text a line. */
export function httpBlocks(view: ConfView): string[] {
  const { forwarded } = view;
  return [...view.geo.flatMap(geoBlock), ...(forwarded.chain === undefined ? [] : trustedBlock(forwarded.trusted))];
}

function geoBlock(database: GeoDatabase): string[] {
  const variables = Object.entries(database.variables).map(([name, path]) => `    $${name} ${path.map(quoteArgument).join(" ")};`);
  const reload = database.reloadMinutes > 0 ? [`    ${printDirective({ name: "auto_reload", args: [`${database.reloadMinutes}m`] })}`] : [];
  // the stamp makes a newer file a newer conf
  return [`geoip2 ${quoteArgument(database.path)} { # ${database.stamp}`, ...reload, ...variables, "}"];
}

function trustedBlock(trusted: readonly string[]): string[] {
  return [
    "geo $sluice_peer $sluice_proxy_trusted {",
    "    default 0;",
    ...[...new Set(trusted)].map((network) => `    ${quoteArgument(network)} 1;`),
    "}",
  ];
}
