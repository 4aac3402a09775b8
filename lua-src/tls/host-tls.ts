/**
 * Handshakes of hosts with TLS settings of their own, by SNI. The client hello comes before OpenSSL looks for a session
 * to resume: the session context set there ties sessions to the host and to the very settings they were made under.
 */
import { type CertificateChain, parse_pem_cert, verify_client } from "ngx.ssl";
import { Cache } from "../base/cache";
import { readText } from "../configuration/store";
import type { HostTlsDocument } from "../wire";
import { type ClientAuth, compileClientAuth } from "./client-auth";
import { certificateStore, currentSsl, setCiphers, setServerPreference, setSessionContext, setTrust } from "./openssl";

export interface HostTls {
  /** 32 characters, a digest of all that decides a handshake. */
  readonly context: string;
  readonly ciphers: string | undefined;
  readonly preferServer: boolean | undefined;
  readonly client: ClientAuth | undefined;
}

interface Authority {
  readonly chain: CertificateChain;
  readonly store: CData;
}

/** By id; ids change with their contents. */
const authorities = new Cache<Authority>(256);

function compileTls(host: string, { ciphers, preferServerCiphers, clientAuth: auth }: HostTlsDocument): HostTls {
  const parts = [host, ciphers ?? "", tostring(preferServerCiphers), auth?.authority ?? "", auth?.verify ?? "", tostring(auth?.depth)];
  const context = ngx.md5(table.concat(parts, "\n"));
  return {
    context,
    ciphers,
    preferServer: preferServerCiphers,
    client: auth === undefined ? undefined : compileClientAuth(auth, context),
  };
}

function readAuthority(id: string): Authority | undefined {
  let authority = authorities.get(id);
  if (authority !== undefined) {
    return authority;
  }
  const pem = readText("certificates", id);
  if (pem === undefined) {
    return undefined;
  }
  const [withoutLists] = string.gsub(pem, "%-%-%-%-%-BEGIN X509 CRL.*$", "");
  const [chain] = parse_pem_cert(withoutLists);
  const store = certificateStore(pem);
  if (chain === undefined || store === undefined) {
    return undefined;
  }
  authority = { chain, store };
  authorities.set(id, authority);
  return authority;
}

/** In the client-hello phase. Error text: the handshake must not go on. */
function prepareHandshake(tls: HostTls): string | undefined {
  const ssl = currentSsl();
  if (ssl === undefined || !setSessionContext(ssl, tls.context)) {
    return "the session context cannot be set";
  }
  if (tls.ciphers !== undefined && !setCiphers(ssl, tls.ciphers)) {
    return `no usable cipher in ${tls.ciphers}`;
  }
  if (tls.preferServer !== undefined) {
    setServerPreference(ssl, tls.preferServer);
  }
  return undefined;
}

/** In the certificate phase: not when a session is resumed, whose client was judged then. Error text as above. */
function completeHandshake({ client, preferServer }: HostTls): string | undefined {
  if (preferServer !== undefined) {
    // where the host has a server block of its own nginx has put that block's options in place meanwhile
    setServerPreference(currentSsl()!, preferServer);
  }
  if (client === undefined || client.verify === "off") {
    return undefined;
  }
  const authority = readAuthority(client.authority);
  const ssl = currentSsl();
  if (authority === undefined || ssl === undefined) {
    return `authority ${client.authority} cannot be read`;
  }
  const [asked, problem] = verify_client(authority.chain, client.depth);
  if (asked !== true || !setTrust(ssl, authority.store)) {
    return problem ?? "the authority cannot be set";
  }
  return undefined;
}

export { compileTls, completeHandshake, prepareHandshake };
