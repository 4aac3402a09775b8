/** What the handshakes of a host have of their own, from the annotations of its Ingresses: the oldest one to set it decides. */

import type { ClientAuthDocument, HostTlsDocument } from "../../lua-src/wire.ts";
import type { Look } from "../catalog/feature.ts";
import type { Settings } from "../catalog/settings.ts";
import { type Authority, authorityOf } from "../features/client-authority.ts";
import type { Accepted } from "./accept.ts";

export interface HostTls {
  readonly document: HostTlsDocument | undefined;
  readonly authority: Authority | undefined;
  /** The host's client authentication cannot be honoured: all of it answers 403. */
  readonly closed: boolean;
}

type Verify = ClientAuthDocument["verify"];

/** `owners`: Ingresses of the host, oldest first. */
export function hostTlsOf(owners: readonly Accepted[], settings: Settings, look: Look): HostTls {
  const first = <T>(name: string): T | undefined =>
    owners.find((o) => o.annotations.given.has(name))?.annotations.values[name] as T | undefined;
  const ciphers = first<string>("ssl-ciphers");
  const prefer = first<boolean>("ssl-prefer-server-ciphers");
  const guard = owners.find((o) => o.annotations.given.has("auth-tls-secret") || guardDenied(o));
  const found =
    guard === undefined || guardDenied(guard)
      ? undefined
      : authorityOf(guard.annotations.values["auth-tls-secret"] as string, guard.ref.namespace, settings, look);
  const authority = found?.ok === true ? found.authority : undefined;
  const clientAuth = guard === undefined || authority === undefined ? undefined : clientAuthOf(guard, authority);
  const document: HostTlsDocument = {
    ...(ciphers === undefined || ciphers === "" ? {} : { ciphers }),
    ...(prefer === undefined ? {} : { preferServerCiphers: prefer }),
    ...(clientAuth === undefined ? {} : { clientAuth }),
  };
  return {
    document: Object.keys(document).length === 0 ? undefined : document,
    authority,
    closed: guard !== undefined && authority === undefined,
  };
}

/** With validation switched off a bad value does not keep the Ingress out, but its host stays closed. */
function guardDenied(owner: Accepted): boolean {
  return owner.annotations.denied?.annotation.startsWith("auth-tls-") === true;
}

function clientAuthOf({ annotations: { values } }: Accepted, authority: Authority): ClientAuthDocument {
  const errorPage = values["auth-tls-error-page"] as string | undefined;
  const commonName = values["auth-tls-match-cn"] as string | undefined;
  return {
    authority: authority.id,
    verify: values["auth-tls-verify-client"] as Verify,
    depth: Math.min(100, Math.max(1, values["auth-tls-verify-depth"] as number)),
    ...(errorPage === undefined || errorPage === "" ? {} : { errorPage }),
    ...(commonName === undefined ? {} : { commonName }),
  };
}
