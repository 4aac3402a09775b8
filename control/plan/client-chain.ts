/** Where both a PROXY line and a forwarded header may name the client: see Forwarded.chain. */

import type { Settings } from "../catalog/settings.ts";

/** `passthrough`: connections to the https port come by way of ssl_preread with a PROXY line of our own. */
export function chainsAddresses(settings: Settings, passthrough: boolean): boolean {
  if (settings["use-proxy-protocol"]) return settings["use-forwarded-headers"];
  return passthrough && (settings["use-forwarded-headers"] || settings["enable-real-ip"]);
}

/** What comes from ssl_preread is trusted; whether its client is, decides what its header is filled with. */
export function trustedPeers(settings: Settings, passthrough: boolean): readonly string[] {
  return [...settings["proxy-real-ip-cidr"], ...(passthrough ? ["127.0.0.1/32"] : [])];
}
