/** auth-type basic and digest: who may pass stands in a user table; the credentials do not go on to the upstream. */
import { challenge, checkDigest } from "../access/digest";
import { verifyPassword } from "../access/password";
import { type Users, usersNamed } from "../access/users";
import { flag, object, text } from "../configuration/check";
import type { AuthBasicDocument } from "../wire";
import type { Feature, RequestState } from "./feature";

interface AuthBasic {
  readonly users: string;
  readonly realm: string;
  readonly digest: boolean;
}

/** Undefined: not tried, because too many guesses wait. */
function mayPass(header: string, users: Users): boolean | undefined {
  const [encoded] = string.match(header, "^[Bb][Aa][Ss][Ii][Cc] +([%w+/=_-]+)%s*$");
  const decoded = encoded === undefined ? undefined : ngx.decode_base64(encoded);
  const [user, password] = string.match(decoded ?? "", "^([^:]+):(.*)$");
  const hash = user === undefined ? undefined : users.hashes.get(user);
  return hash === undefined ? false : verifyPassword(password!, hash);
}

function checkHeader(config: AuthBasic, users: Users, request: RequestState): boolean | undefined {
  const header = ngx.var.get("http_authorization") ?? "";
  if (!config.digest) {
    const good = mayPass(header, users);
    request.challenge = good === true ? undefined : `Basic realm="${config.realm}"`;
    return good;
  }
  const verdict = checkDigest(header, users, config.realm);
  request.challenge = verdict === "good" ? undefined : challenge(config.realm, verdict === "stale");
  return verdict === "good";
}

function access(config: AuthBasic, request: RequestState): LuaMultiReturn<[number?, string?]> {
  const users = usersNamed(config.users);
  if (users === undefined) {
    return $multi(503);
  }
  const good = checkHeader(config, users, request);
  return $multi(good === undefined ? 503 : good ? 200 : 401);
}

function passed(): LuaMultiReturn<[number?, string?]> {
  // nginx finds the user's name for the log when it is first asked for, in the header that goes now
  tostring(ngx.var.get("remote_user"));
  ngx.req.clear_header("Authorization");
  return $multi();
}

export const authBasic: Feature<AuthBasicDocument, AuthBasic> = {
  check: object({ users: text, realm: text, "digest?": flag }),
  prepare: ({ users, realm, digest }) => ({ users, realm, digest: digest === true }),
  access,
  passed,
};
