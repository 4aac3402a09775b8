/**
 * Answers of auth services, shared by the workers. What may be kept, and for how long, follows the rules of nginx's
 * proxy cache: the answer's own X-Accel-Expires, Cache-Control and Expires before the configured times; never with
 * Set-Cookie or "Vary: *"; answers that vary are kept apart by the request headers that they name.
 */
import { decode, encode } from "cjson.safe";
import type { AuthAnswer } from "./auth-answer";
import type { Reply } from "./http-client";

/** Code 0 stands for any status. */
export interface Validity {
  readonly codes: readonly number[];
  readonly seconds: number;
}

interface Stored {
  /** Names of request headers; then this is no answer yet. */
  readonly vary?: string;
  readonly answer?: AuthAnswer;
}

const dictionary = ngx.shared.get("auth_cache")!;

/** All lines of a header as one. */
function joined(reply: Reply, name: string): string | undefined {
  const lines = reply.headers.get(name);
  return lines === undefined ? undefined : table.concat(lines as unknown as string[], ",");
}

/** Seconds by Cache-Control; undefined when it does not say. */
function byCacheControl(control: string): number | undefined {
  const lower = string.lower(control);
  for (const word of ["no-cache", "no-store", "private"]) {
    const [found] = string.find(lower, word, 1, true);
    if (found !== undefined) {
      return 0;
    }
  }
  const [forShared] = string.match(lower, "s%-maxage=(%d+)");
  const [forAll] = string.match(lower, "max%-age=(%d+)");
  return tonumber(forShared ?? forAll ?? "");
}

/** Seconds by the answer's own headers; undefined when they do not say. */
function ownLifetime(reply: Reply): number | undefined {
  const accel = joined(reply, "x-accel-expires");
  if (accel !== undefined) {
    const [at] = string.match(accel, "^@(%d+)$");
    return at === undefined ? tonumber(accel) : tonumber(at)! - ngx.time();
  }
  const control = joined(reply, "cache-control");
  const byControl = control === undefined ? undefined : byCacheControl(control);
  if (byControl !== undefined) {
    return byControl;
  }
  const expires = joined(reply, "expires");
  return expires === undefined ? undefined : (ngx.parse_http_time(expires) ?? 0) - ngx.time();
}

function configuredLifetime(valid: readonly Validity[], status: number): number {
  for (const { codes, seconds } of valid) {
    for (const code of codes) {
      if (code === status || code === 0) {
        return seconds;
      }
    }
  }
  return 0;
}

/** Seconds; 0 or less: not to be kept. */
function lifetimeOf(reply: Reply, valid: readonly Validity[]): number {
  const [any] = string.find(joined(reply, "vary") ?? "", "*", 1, true);
  if (joined(reply, "set-cookie") !== undefined || any !== undefined) {
    return 0;
  }
  return ownLifetime(reply) ?? configuredLifetime(valid, reply.status);
}

function variant(key: string, vary: string): string {
  let out = key;
  for (const [name] of string.gmatch(vary, "[^%s,]+")) {
    const [variable] = string.gsub(string.lower(name!), "-", "_");
    out += `\n${variable}:${ngx.var.get(`http_${variable}`) ?? ""}`;
  }
  return ngx.encode_base64(ngx.sha1_bin(out));
}

function read(key: string): Stored | undefined {
  const [text] = dictionary.get(key);
  if (text === undefined) {
    return undefined;
  }
  const [stored] = decode(text as string);
  return stored as Stored | undefined;
}

/** `key` is a digest already. */
function findAnswer(key: string): AuthAnswer | undefined {
  const stored = read(key);
  return stored?.vary === undefined ? stored?.answer : read(variant(key, stored.vary))?.answer;
}

function write(key: string, stored: Stored, seconds: number): void {
  const [text] = encode(stored);
  if (text !== undefined) {
    // a full dictionary forgets what was not used for longest
    dictionary.set(key, text, seconds);
  }
}

function keepAnswer(key: string, reply: Reply, answer: AuthAnswer, valid: readonly Validity[]): void {
  const seconds = lifetimeOf(reply, valid);
  if (seconds <= 0) {
    return;
  }
  const vary = joined(reply, "vary");
  if (vary === undefined) {
    write(key, { answer }, seconds);
    return;
  }
  write(key, { vary }, seconds);
  write(variant(key, vary), { answer }, seconds);
}

export { findAnswer, keepAnswer, lifetimeOf };
