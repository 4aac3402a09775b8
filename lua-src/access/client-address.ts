/**
 * Who the client is, for what is decided before nginx picks a location. With PROXY lines and forwarded headers together
 * realip only knows it later (control/apply/template-view.ts), and a variable that is read too early keeps its value.
 */
import { parseAddress } from "../base/address";
import { generalState } from "../configuration/general";
import { contains, type Networks } from "./networks";

/** The address without a port, if it is one. */
function addressIn(item: string): string | undefined {
  const [v4] = string.match(item, "^(%d+%.%d+%.%d+%.%d+):?%d*$");
  const [bracketed] = string.match(item, "^%[([^%]]+)%]:?%d*$");
  const text = v4 ?? bracketed ?? item;
  return parseAddress(text) === undefined ? undefined : text;
}

/** As realip with real_ip_recursive: from the right to the first address that is not trusted. */
function fromChain(chain: string, peer: string, trusted: Networks): string {
  let found = peer;
  let rest: string | undefined = chain;
  while (rest !== undefined && contains(trusted, parseAddress(found) ?? "")) {
    const [before, last] = string.match(rest, "^(.-)%s*,?%s*([^%s,]+)[%s,]*$");
    const address = last === undefined ? undefined : addressIn(last);
    if (address === undefined) {
      break;
    }
    found = address;
    rest = before === "" ? undefined : before;
  }
  return found;
}

/** As $remote_addr will have it. */
function clientAddress(): string {
  const trusted = generalState.proxies;
  if (trusted === undefined) {
    return ngx.var.get("remote_addr") ?? "";
  }
  return fromChain(ngx.var.get("sluice_proxy_chain") ?? "", ngx.var.get("realip_remote_addr") ?? "", trusted);
}

/** As $binary_remote_addr will have it. */
function clientBytes(): string {
  if (generalState.proxies === undefined) {
    return ngx.var.get("binary_remote_addr") ?? "";
  }
  return parseAddress(clientAddress()) ?? "";
}

export { clientAddress, clientBytes, fromChain };
