/** What ngx_lua has no function for: OpenSSL itself, by FFI, on the handshake or connection of the running handler. */
import * as ffi from "ffi";
import { get_request } from "resty.core.base";

ffi.cdef(`
  void *ngx_http_lua_ffi_get_req_ssl_pointer(void *r);
  int SSL_set_session_id_context(void *ssl, const char *ctx, unsigned int len);
  void *SSL_get_session(const void *ssl);
  int SSL_session_reused(const void *ssl);
  const unsigned char *SSL_SESSION_get0_id_context(const void *session, unsigned int *len);
  int SSL_set_cipher_list(void *ssl, const char *list);
  uint64_t SSL_set_options(void *ssl, uint64_t options);
  uint64_t SSL_clear_options(void *ssl, uint64_t options);
  long SSL_ctrl(void *ssl, int cmd, long larg, void *parg);
  void *BIO_new_mem_buf(const void *buf, int len);
  int BIO_free(void *bio);
  void *PEM_read_bio_X509(void *bio, void **x, void *cb, void *u);
  void *PEM_read_bio_X509_CRL(void *bio, void **x, void *cb, void *u);
  void X509_free(void *x);
  void X509_CRL_free(void *crl);
  void *X509_STORE_new(void);
  void X509_STORE_free(void *store);
  int X509_STORE_add_cert(void *store, void *x);
  int X509_STORE_add_crl(void *store, void *crl);
  int X509_STORE_set_flags(void *store, unsigned long flags);
  void ERR_clear_error(void);
`);

const C = ffi.C;
const preferServer = 0x00400000; // SSL_OP_CIPHER_SERVER_PREFERENCE
const setVerifyStore = 106; // SSL_CTRL_SET_VERIFY_CERT_STORE
const checkRevocation = 0x4 + 0x8; // X509_V_FLAG_CRL_CHECK, _ALL: every certificate of the chain, as nginx's ssl_crl has it
const unsignedInt = ffi.new("unsigned int[1]");

/** A NULL pointer is neither nil nor false, but equal to nil. */
function pointer(value: CData | undefined): CData | undefined {
  return value === undefined ? undefined : value;
}

/** SSL of the handshake or connection; undefined on plain http. */
function currentSsl(): CData | undefined {
  const request = get_request();
  return request === undefined ? undefined : pointer(C.ngx_http_lua_ffi_get_req_ssl_pointer(request));
}

/** At most 32 bytes. Sessions made under one context do not resume under another. */
function setSessionContext(ssl: CData, context: string): boolean {
  return C.SSL_set_session_id_context(ssl, context, context.length) === 1;
}

/** The context under which the connection's session was made. */
function sessionContext(): string | undefined {
  const ssl = currentSsl();
  const session = ssl === undefined ? undefined : pointer(C.SSL_get_session(ssl));
  if (session === undefined) {
    return undefined;
  }
  const bytes = C.SSL_SESSION_get0_id_context(session, unsignedInt);
  return ffi.string(bytes, unsignedInt[0]!);
}

/** In the certificate phase, which TLS 1.3 comes to for resumed sessions too: whether it is one, which shows no certificate. */
function isResumed(): boolean {
  const ssl = currentSsl();
  return ssl !== undefined && C.SSL_session_reused(ssl) === 1;
}

/** False when OpenSSL finds no cipher in the list. */
function setCiphers(ssl: CData, list: string): boolean {
  const ok = C.SSL_set_cipher_list(ssl, list) === 1;
  C.ERR_clear_error();
  return ok;
}

function setServerPreference(ssl: CData, on: boolean): void {
  if (on) {
    C.SSL_set_options(ssl, preferServer);
  } else {
    C.SSL_clear_options(ssl, preferServer);
  }
}

type Read = "PEM_read_bio_X509" | "PEM_read_bio_X509_CRL";

/** Adds each block of the PEM text; how many, or undefined when one is refused. */
function addAll(pem: string, label: string, read: Read, add: (item: CData) => number, free: (item: CData) => void): number | undefined {
  let count = 0;
  for (const [block] of string.gmatch(pem, `%-%-%-%-%-BEGIN ${label}%-%-%-%-%-.-%-%-%-%-%-END ${label}%-%-%-%-%-`)) {
    const bio = pointer(C.BIO_new_mem_buf(block!, block!.length));
    const item = bio === undefined ? undefined : pointer(C[read](bio, undefined, undefined, undefined));
    if (bio !== undefined) {
      C.BIO_free(bio);
    }
    if (item === undefined || add(item) !== 1) {
      C.ERR_clear_error();
      return undefined;
    }
    free(item);
    count += 1;
  }
  return count;
}

/** Authorities, and revocation lists if there are any: then no chain passes without its lists. undefined: unreadable. */
function certificateStore(pem: string): CData | undefined {
  const store = ffi.gc(C.X509_STORE_new(), C.X509_STORE_free);
  const certificates = addAll(pem, "CERTIFICATE", "PEM_read_bio_X509", (x) => C.X509_STORE_add_cert(store, x), C.X509_free);
  const lists = addAll(pem, "X509 CRL", "PEM_read_bio_X509_CRL", (x) => C.X509_STORE_add_crl(store, x), C.X509_CRL_free);
  if (certificates === undefined || certificates === 0 || lists === undefined) {
    return undefined;
  }
  if (lists > 0) {
    C.X509_STORE_set_flags(store, checkRevocation);
  }
  return store;
}

/** The handshake keeps a reference of its own. */
function setTrust(ssl: CData, store: CData): boolean {
  return C.SSL_ctrl(ssl, setVerifyStore, 1, store) === 1;
}

export { certificateStore, currentSsl, isResumed, sessionContext, setCiphers, setServerPreference, setSessionContext, setTrust };
