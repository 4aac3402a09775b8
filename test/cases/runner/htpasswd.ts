// Password files in the three formats of FORMAT.md.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";

export type PasswordHash = "apr1" | "bcrypt" | "sha";

/** Thrown when this machine has no program that can make such a hash. */
export class NoHashProgram extends Error {}

const BCRYPT_ROUNDS = 16;
const PYTHON = `import sys, warnings; warnings.simplefilter("ignore"); import crypt
print(crypt.crypt(sys.stdin.read(), crypt.mksalt(crypt.METHOD_BLOWFISH, rounds=${BCRYPT_ROUNDS})))`;

const known = new Map<string, string>();

function bcryptHash(password: string): string {
  try {
    const line = execFileSync("htpasswd", ["-niBC", "4", "u"], { input: password, stdio: ["pipe", "pipe", "ignore"] }).toString();
    return line.trim().slice("u:".length);
  } catch {
    // No apache2-utils; the crypt module of Python up to 3.12 uses the libcrypt that nginx uses too.
  }
  try {
    const hash = execFileSync("python3", ["-c", PYTHON], { input: password, stdio: ["pipe", "pipe", "ignore"] })
      .toString()
      .trim();
    if (hash.startsWith("$2")) return hash;
  } catch {
    // Reported below.
  }
  throw new NoHashProgram("bcrypt needs htpasswd or a python3 with the crypt module");
}

function makeHash(password: string, kind: PasswordHash): string {
  if (kind === "sha") return `{SHA}${createHash("sha1").update(password).digest("base64")}`;
  if (kind === "bcrypt") return bcryptHash(password);
  return execFileSync("openssl", ["passwd", "-apr1", "-stdin"], { input: password }).toString().trim();
}

/** One `user:hash` line a user. */
export function htpasswdText(users: Readonly<Record<string, string>>, kind: PasswordHash): string {
  const lines = Object.entries(users).map(([user, password]) => {
    const key = `${kind}:${password}`;
    const hash = known.get(key) ?? makeHash(password, kind);
    known.set(key, hash);
    return `${user}:${hash}\n`;
  });
  return lines.join("");
}
