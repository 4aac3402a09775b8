/** The judgement on a client's certificate at each request, as nginx makes it where ssl_verify_client stands in a server. */
import { logError } from "../base/log";
import type { ClientAuthDocument } from "../wire";
import { sessionContext } from "./openssl";

export interface ClientAuth {
  readonly authority: string;
  readonly verify: ClientAuthDocument["verify"];
  readonly depth: number;
  readonly errorPage: string | undefined;
  /** PCRE, anchored. */
  readonly commonName: string | undefined;
  /** HostTls.context. */
  readonly context: string;
}

/** What the judgement says: nginx's own codes 495 and 496 are both answered as 400. */
type Verdict = "ok" | "misdirected" | "bad" | "missing" | "wrong-name";

/** Under optional_no_ca an unknown authority is no fault; everything else is. Two spellings each: OpenSSL 1.1.1 and 3. */
const unknownAuthority = new LuaTable<string, true>();
for (const reason of [
  "self-signed certificate",
  "self signed certificate",
  "self-signed certificate in certificate chain",
  "self signed certificate in certificate chain",
  "unable to get local issuer certificate",
  "unable to verify the first certificate",
  "certificate not trusted",
]) {
  unknownAuthority.set(`FAILED:${reason}`, true);
}

function compileClientAuth({ authority, verify, depth, errorPage, commonName }: ClientAuthDocument, context: string): ClientAuth {
  return { authority, verify, depth, errorPage, commonName: commonName === undefined ? undefined : `^(?:${commonName})$`, context };
}

/** The last common name of a subject in RFC 2253 form (which is in reverse order: the first), unescaped. */
function commonNameOf(subject: string): string | undefined {
  let rest = `,${subject}`;
  for (;;) {
    const [name, after] = string.match(rest, "^[,+]([%w%.]+)=(.*)$");
    if (name === undefined) {
      return undefined;
    }
    let value = "";
    let from = 1;
    for (;;) {
      const [stop] = string.find(after!, "[\\,+]", from);
      value += string.sub(after!, from, (stop ?? after!.length + 1) - 1);
      if (stop === undefined || string.sub(after!, stop, stop) !== "\\") {
        rest = stop === undefined ? "" : string.sub(after!, stop);
        break;
      }
      const [hex] = string.match(after!, "^%x%x", stop + 1);
      value += hex === undefined ? string.sub(after!, stop + 1, stop + 1) : string.char(tonumber(hex, 16)!);
      from = stop + (hex === undefined ? 2 : 3);
    }
    if (name === "CN") {
      return value;
    }
  }
}

function nameFits(pattern: string, subject: string | undefined): boolean {
  const name = subject === undefined ? undefined : commonNameOf(subject);
  if (name === undefined) {
    return false;
  }
  const [from, , problem] = ngx.re.find(name, pattern, "jo");
  if (problem !== undefined) {
    logError("auth-tls-match-cn cannot be used", problem);
  }
  return from !== undefined;
}

function judgeResult(auth: ClientAuth, result: string): Verdict {
  if (result === "SUCCESS") {
    return "ok";
  }
  if (result === "NONE") {
    return auth.verify === "on" ? "missing" : "ok";
  }
  return auth.verify === "optional_no_ca" && unknownAuthority.get(result) === true ? "ok" : "bad";
}

function judgeName(pattern: string | undefined, subject: string | undefined): Verdict {
  return pattern === undefined || nameFits(pattern, subject) ? "ok" : "wrong-name";
}

function judgeConnection(auth: ClientAuth): Verdict {
  if (sessionContext() !== auth.context) {
    // without SNI it is a connection that was asked for no certificate
    const verdict = (ngx.var.get("ssl_server_name") ?? "") === "" ? judgeResult(auth, "NONE") : "misdirected";
    return verdict === "ok" ? judgeName(auth.commonName, undefined) : verdict;
  }
  const result = ngx.var.get("ssl_client_verify") ?? "NONE";
  const subject = ngx.var.get("ssl_client_s_dn");
  ngx.var.set("sluice_client_verify", result);
  ngx.var.set("sluice_client_subject", subject ?? "");
  ngx.var.set("sluice_client_issuer", ngx.var.get("ssl_client_i_dn") ?? "");
  const verdict = judgeResult(auth, result);
  return verdict === "ok" ? judgeName(auth.commonName, subject) : verdict;
}

/**
 * Also says to the upstream what was found. A connection made for another host, or under other settings of this one, has
 * shown no certificate to it. Plain http is the routes' business (features/client-certificate.ts).
 */
function judgeClient(auth: ClientAuth): Verdict {
  ngx.var.set("sluice_client_verify", "NONE");
  if (auth.verify === "off" || ngx.var.get("https") !== "on") {
    return judgeName(auth.commonName, undefined);
  }
  return judgeConnection(auth);
}

export type { Verdict };
export { commonNameOf, compileClientAuth, judgeClient, judgeResult };
