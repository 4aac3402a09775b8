/**
 * Digest authentication (RFC 2617: MD5, qop=auth). Nonces are stateless: a time and its signature. Each nonce count is
 * taken once, in shared memory, so an overheard answer cannot be sent again.
 */
import { randomKey, sameText } from "./password";
import type { Users } from "./users";

/** Seconds for which a nonce is good. */
const lifetime = 300;
const quote = string.byte('"');

const shared = ngx.shared.get("digest_nonces")!;

/** All workers sign alike. */
function signingKey(): string {
  const [key] = shared.get("digest-key");
  if (key !== undefined) {
    return key as string;
  }
  shared.add("digest-key", randomKey());
  const [stored] = shared.get("digest-key");
  return (stored as string | undefined) ?? randomKey();
}

function hexDigit(byte: string): string {
  return string.format("%02x", string.byte(byte));
}

function sign(stamp: string, realm: string): string {
  const [hex] = string.gsub(ngx.hmac_sha1(signingKey(), `${stamp}:${realm}`), ".", hexDigit);
  return hex;
}

function makeNonce(realm: string): string {
  const stamp = string.format("%x", ngx.time());
  return `${stamp}.${sign(stamp, realm)}`;
}

function challenge(realm: string, stale: boolean): string {
  return `Digest algorithm="MD5", qop="auth", realm="${realm}", nonce="${makeNonce(realm)}"${stale ? ", stale=true" : ""}`;
}

/** Value at a place and where the text goes on; quoted text without its escapes. */
function readValue(text: string, at: number): LuaMultiReturn<[string | undefined, number]> {
  if (string.byte(text, at) !== quote) {
    const [, last, token] = string.find(text, '^([^%s,"]+)', at);
    return $multi(token as string | undefined, (last ?? at) + 1);
  }
  let from = at + 1;
  while (true) {
    const [end, , sign] = string.find(text, '(["\\])', from);
    if (end === undefined) {
      return $multi(undefined, at);
    }
    if (sign === '"') {
      const [plain] = string.gsub(string.sub(text, at + 1, end - 1), "\\(.)", "%1");
      return $multi(plain, end + 1);
    }
    from = end + 2;
  }
}

/** name=token and name="quoted text" pairs, names in lower case; a name given twice or anything else makes it nothing. */
function parseParameters(text: string): LuaTable<string, string | undefined> | undefined {
  const out = new LuaTable<string, string | undefined>();
  let at = 1;
  while (true) {
    const [, last, name] = string.find(text, "^[%s,]*(%w+)%s*=%s*", at);
    if (last === undefined) {
      const [rest] = string.find(text, "^[%s,]*$", at);
      return rest === undefined ? undefined : out;
    }
    const key = string.lower(name as string);
    const [value, next] = readValue(text, last + 1);
    if (value === undefined || out.get(key) !== undefined) {
      return undefined;
    }
    out.set(key, value);
    at = next;
  }
}

function ageOf(nonce: string, realm: string): number | undefined {
  const [stamp, signature] = string.match(nonce, "^(%x+)%.(%x+)$");
  if (stamp === undefined || signature === undefined || stamp.length > 12 || !sameText(sign(stamp, realm), signature)) {
    return undefined;
  }
  return ngx.time() - tonumber(stamp, 16)!;
}

export interface DigestAnswer {
  readonly username: string;
  readonly realm: string;
  readonly nonce: string;
  readonly uri: string;
  readonly qop: string;
  /** Eight hexadecimal digits. */
  readonly nc: string;
  readonly cnonce: string;
  readonly response: string;
}

/** Undefined when a part is missing. */
function readAnswer(header: string): DigestAnswer | undefined {
  const [scheme, rest] = string.match(header, "^(%a+)%s+(.+)$");
  const parameters = scheme === undefined || string.lower(scheme) !== "digest" ? undefined : parseParameters(rest!);
  if (parameters === undefined) {
    return undefined;
  }
  const [username, realm, nonce, uri] = [
    parameters.get("username"),
    parameters.get("realm"),
    parameters.get("nonce"),
    parameters.get("uri"),
  ];
  const [qop, nc, cnonce, response] = [parameters.get("qop"), parameters.get("nc"), parameters.get("cnonce"), parameters.get("response")];
  if (username === undefined || realm === undefined || nonce === undefined || uri === undefined) {
    return undefined;
  }
  if (qop === undefined || nc === undefined || cnonce === undefined || response === undefined) {
    return undefined;
  }
  const [counted] = string.match(nc, "^%x%x%x%x%x%x%x%x$");
  return counted === undefined ? undefined : { username, realm, nonce, uri, qop, nc, cnonce, response };
}

/** The response that the holder of the password gives; ha1 is MD5 of user:realm:password. */
function responseOf({ uri, nonce, nc, cnonce }: DigestAnswer, method: string, ha1: string): string {
  return ngx.md5(`${ha1}:${nonce}:${nc}:${cnonce}:auth:${ngx.md5(`${method}:${uri}`)}`);
}

/** "good", "stale" (right but for the nonce) or "bad". */
function checkDigest(header: string, users: Users, realm: string): "good" | "stale" | "bad" {
  const answer = readAnswer(header);
  if (answer === undefined || answer.realm !== realm || answer.qop !== "auth" || answer.uri !== ngx.var.get("request_uri")) {
    return "bad";
  }
  const ha1 = users.digests.get(`${answer.username}:${realm}`) ?? "";
  if (ha1.length !== 32 || !sameText(responseOf(answer, ngx.req.get_method(), ha1), string.lower(answer.response))) {
    return "bad";
  }
  const age = ageOf(answer.nonce, realm);
  if (age === undefined || age > lifetime || age < 0) {
    return "stale";
  }
  const [first] = shared.add(`digest:${answer.nonce}:${string.lower(answer.nc)}`, 1, lifetime + 1);
  return first ? "good" : "stale";
}

export { challenge, checkDigest, parseParameters, responseOf };
