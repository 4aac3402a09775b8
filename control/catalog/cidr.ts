/** IP addresses and networks in canonical text. */

import { isIPv4, isIPv6 } from "node:net";

/** "10.1.2.3" → "10.1.2.3/32", "10.0.0.0/8" stays; undefined when it is neither an address nor a network. */
export function parseCidr(text: string): string | undefined {
  const slash = text.indexOf("/");
  const address = slash < 0 ? text : text.slice(0, slash);
  const width = isIPv4(address) ? 32 : isIPv6(address) && !address.includes("%") ? 128 : 0;
  if (width === 0) return undefined;
  if (slash < 0) return `${address}/${width}`;
  const bits = text.slice(slash + 1);
  if (!/^\d{1,3}$/.test(bits) || Number(bits) > width) return undefined;
  return `${address}/${Number(bits)}`;
}
