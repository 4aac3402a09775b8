/**
 * Does a password belong to a stored hash? apr1, {PLAIN}, {SHA} and {SSHA} are computed here, all else is libcrypt's
 * (bcrypt, MD5, SHA-256, SHA-512, yescrypt, DES …), whose slow schemes stop the worker for as long as they take: so
 * what was found is remembered, keyed with a secret of this worker, for as long as the hash stays the same.
 */
import { C, cdef, type Library, load, type Memory, string as textOf } from "ffi";
import { Cache } from "../base/cache";
import { logError } from "../base/log";
import { noteWrongGuess, waitForTurn } from "./guesses";

cdef("char *crypt_r(const char *phrase, const char *setting, void *memory); void *calloc(size_t count, size_t size);");

interface Verdict {
  readonly good: boolean;
}

const remembered = 2048;
const goodOnes = new Cache<Verdict>(remembered);
/** Apart, so that guessing does not displace the good ones. */
const badOnes = new Cache<Verdict>(remembered);
const good: Verdict = { good: true };
const bad: Verdict = { good: false };
const state: { key: string | undefined; library: Library | undefined; memory: Memory | undefined } = {
  key: undefined,
  library: undefined,
  memory: undefined,
};

/** More than any libc's struct crypt_data. */
const memorySize = 262144;

function randomKey(): string {
  const [file] = io.open("/dev/urandom", "rb");
  const bytes = file?.read(20) as string | undefined;
  file?.close();
  return bytes ?? `${ngx.now()} ${math.random()} ${ngx.worker.pid()}`;
}

/** Looks at every byte, so that the time does not tell how far two texts are equal. */
function sameText(a: string, b: string): boolean {
  if (a.length !== b.length) {
    return false;
  }
  let different = 0;
  for (const i of $range(1, a.length)) {
    different += math.abs(string.byte(a, i) - string.byte(b, i));
  }
  return different === 0;
}

const alphabet = "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** `count` characters of six bits each, lowest first. */
function base64Of(value: number, count: number): string {
  let [out, rest] = ["", value];
  for (const _ of $range(1, count)) {
    const digit = rest % 64;
    out += string.sub(alphabet, digit + 1, digit + 1);
    rest = (rest - digit) / 64;
  }
  return out;
}

function apr1Start(password: string, salt: string): string {
  const inner = ngx.md5_bin(password + salt + password);
  let text = `${password}$apr1$${salt}${string.sub(string.rep(inner, math.ceil(password.length / 16)), 1, password.length)}`;
  let length = password.length;
  while (length > 0) {
    text += length % 2 === 1 ? "\0" : string.sub(password, 1, 1);
    length = math.floor(length / 2);
  }
  return ngx.md5_bin(text);
}

/** Apache's MD5 scheme: 1000 rounds whose input depends on the round's number. */
function apr1(password: string, salt: string): string {
  let digest = apr1Start(password, salt);
  for (const round of $range(0, 999)) {
    const odd = round % 2 === 1;
    const middle = (round % 3 === 0 ? "" : salt) + (round % 7 === 0 ? "" : password);
    digest = ngx.md5_bin((odd ? password : digest) + middle + (odd ? digest : password));
  }
  let out = `$apr1$${salt}$`;
  for (const i of $range(0, 4)) {
    const [a, b, c] = [string.byte(digest, i + 1), string.byte(digest, i + 7), string.byte(digest, i === 4 ? 6 : i + 13)];
    out += base64Of(a * 65536 + b * 256 + c, 4);
  }
  return out + base64Of(string.byte(digest, 12), 2);
}

/** nginx is linked against libcrypt; where it is not, the library is loaded by its usual name. */
function findLibrary(): Library {
  const [ok] = pcall(probe, C);
  return ok ? C : load("libcrypt.so.1");
}

function probe(library: Library): void {
  tostring(library.crypt_r);
}

function callLibrary(password: string, hash: string): string | undefined {
  state.library = state.library ?? findLibrary();
  state.memory = state.memory ?? C.calloc(1, memorySize);
  const result = state.library.crypt_r(password, hash, state.memory);
  // cdata NULL equals nil without being it
  return result === undefined ? undefined : textOf(result);
}

/** A failure of libcrypt ("*0", NULL) is never equal to what is stored. Undefined: too many guesses wait. */
function libcryptMatches(password: string, hash: string): boolean | undefined {
  const [zero] = string.find(password, "\0", 1, true);
  if (zero !== undefined) {
    return false;
  }
  if (!waitForTurn()) {
    return undefined;
  }
  const started = ngx.now();
  const [ok, result] = pcall(callLibrary, password, hash);
  if (!ok) {
    logError("libcrypt cannot be used, so its hashes let nobody in", tostring(result));
    return false;
  }
  const text = result as string | undefined;
  const matches = text !== undefined && string.sub(text, 1, 1) !== "*" && sameText(text, hash);
  if (!matches) {
    noteWrongGuess(started);
  }
  return matches;
}

function saltedShaMatches(password: string, encoded: string): boolean {
  const bytes = ngx.decode_base64(encoded);
  if (bytes === undefined || bytes.length < 20) {
    return false;
  }
  return sameText(ngx.sha1_bin(password + string.sub(bytes, 21)), string.sub(bytes, 1, 20));
}

function compare(password: string, hash: string): boolean | undefined {
  const [scheme, rest] = string.match(hash, "^{(%u+)}(.*)$");
  if (scheme === "PLAIN") {
    return sameText(password, rest!);
  }
  if (scheme === "SHA") {
    return sameText(ngx.encode_base64(ngx.sha1_bin(password)), rest!);
  }
  if (scheme === "SSHA") {
    return saltedShaMatches(password, rest!);
  }
  const [salt] = string.match(hash, "^%$apr1%$([^$]*)%$");
  if (salt !== undefined) {
    return sameText(apr1(password, string.sub(salt, 1, 8)), hash);
  }
  return libcryptMatches(password, hash);
}

/** An empty hash belongs to no password. May wait; undefined: too many guesses do. */
function verifyPassword(password: string, hash: string): boolean | undefined {
  if (hash === "") {
    return false;
  }
  state.key = state.key ?? randomKey();
  const memo = ngx.hmac_sha1(state.key, `${hash}\0${password}`);
  const seen = goodOnes.get(memo) ?? badOnes.get(memo);
  if (seen !== undefined) {
    return seen.good;
  }
  const matches = compare(password, hash);
  if (matches === true) {
    goodOnes.set(memo, good);
  } else if (matches === false) {
    badOnes.set(memo, bad);
  }
  return matches;
}

export { randomKey, sameText, verifyPassword };
