/** Certificates by SNI: exact name, one-label wildcard, "_". Parsed once per worker and kept in a bounded cache. */
import { type CertificateChain, clear_certs, type PrivateKey, parse_pem_cert, parse_pem_priv_key, set_cert, set_priv_key } from "ngx.ssl";
import { Cache } from "../base/cache";
import { logError } from "../base/log";
import { currentGeneral } from "../configuration/general";
import { readText } from "../configuration/store";
import { names } from "../wire";
import { staple } from "./ocsp";

interface Pair {
  readonly chain: CertificateChain;
  readonly key: PrivateKey;
}

interface Certificate {
  readonly uid: string;
  /** Empty: the text could not be parsed. One pair per kind of key. */
  readonly pairs: LuaTable<number, Pair>;
  readonly count: number;
  /** Digest of the text; names its OCSP answer. */
  readonly digest: string;
}

const cacheSize = 2048;
const certificates = new Cache<Certificate>(cacheSize);
/** Which certificate a name gets, after wildcards and the default; cleared when any name changes. */
const byName = new Cache<Certificate>(8192);
const none: Certificate = { uid: "", pairs: new LuaTable(), count: 0, digest: "" };

/** Certificates up to and including a key make a pair; the order certificate(s) then key is the wire's. */
function parsePairs(uid: string, pem: string): Certificate {
  const pairsFound = new LuaTable<number, Pair>();
  let [count, chain] = [0, ""];
  for (const [block, label] of string.gmatch(pem, "(%-%-%-%-%-BEGIN ([%u%d ]+)%-%-%-%-%-.-%-%-%-%-%-END [%u%d ]+%-%-%-%-%-)")) {
    if (label === "CERTIFICATE") {
      chain += `${block}\n`;
      continue;
    }
    const [isKey] = string.find(label!, "PRIVATE KEY", 1, true);
    if (isKey === undefined || chain === "") {
      continue;
    }
    const [parsedChain, chainProblem] = parse_pem_cert(chain);
    const [key, keyProblem] = parse_pem_priv_key(block!);
    if (parsedChain === undefined || key === undefined) {
      logError("certificate cannot be parsed", `${uid}: ${chainProblem ?? keyProblem}`);
    } else {
      count += 1;
      pairsFound.set(count, { chain: parsedChain, key });
    }
    chain = "";
  }
  return { uid, pairs: pairsFound, count, digest: ngx.md5(pem) };
}

function certificateOf(uid: string): Certificate | undefined {
  let certificate = certificates.get(uid);
  if (certificate === undefined) {
    const pem = readText("certificates", uid);
    if (pem === undefined) {
      return undefined;
    }
    certificate = parsePairs(uid, pem);
    certificates.set(uid, certificate);
  }
  return certificate.count > 0 ? certificate : undefined;
}

function certificateForServer(server: string): Certificate | undefined {
  const uid = readText("servers", server);
  return uid === undefined ? undefined : certificateOf(uid);
}

/** Lower case, without the dot that ends a fully qualified name. */
function normalName(name: string): string {
  const lower = string.lower(name);
  return string.sub(lower, -1) === "." ? string.sub(lower, 1, -2) : lower;
}

/** A certificate is mapped to that very name, or to its one-label wildcard. */
function hasCertificate(name: string): boolean {
  if (readText("servers", name) !== undefined) {
    return true;
  }
  const [rest] = string.match(name, "^[^.]+(%..+)$");
  return rest !== undefined && readText("servers", `*${rest}`) !== undefined;
}

function resolve(name: string): Certificate {
  const [rest] = string.match(name, "^[^.]+(%..+)$");
  return (
    certificateForServer(name) ??
    (rest === undefined ? undefined : certificateForServer(`*${rest}`)) ??
    certificateForServer(names.defaultCertificate) ??
    none
  );
}

function certificateFor(serverName: string | undefined): Certificate {
  const name = serverName === undefined ? names.defaultCertificate : normalName(serverName);
  let certificate = byName.get(name);
  if (certificate === undefined) {
    certificate = resolve(name);
    byName.set(name, certificate);
  }
  return certificate;
}

/** Puts the certificate into the handshake; without any, nginx's static default stays. Error text when OpenSSL refuses. */
function present(serverName: string | undefined): string | undefined {
  const { uid, pairs: found, count, digest } = certificateFor(serverName);
  if (count === 0) {
    return undefined;
  }
  clear_certs();
  for (const i of $range(1, count)) {
    const pair = found.get(i)!;
    const [chainSet, chainProblem] = set_cert(pair.chain);
    const [keySet, keyProblem] = set_priv_key(pair.key);
    if (chainSet !== true || keySet !== true) {
      return chainProblem ?? keyProblem ?? "refused";
    }
  }
  // of two pairs it is not known yet which one the client will get
  if (count === 1 && currentGeneral().ocsp === true) {
    staple(uid, digest);
  }
  return undefined;
}

function forgetCertificates(uids: readonly string[]): void {
  for (const uid of uids) {
    certificates.drop(uid);
    byName.clear();
  }
}

function forgetServers(serverNames: readonly string[]): void {
  if (serverNames.length > 0) {
    byName.clear();
  }
}

function forgetAllCertificates(): void {
  certificates.clear();
  byName.clear();
}

export { certificateFor, forgetAllCertificates, forgetCertificates, forgetServers, hasCertificate, normalName, present };
