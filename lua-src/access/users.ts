/** User tables by id, parsed when first asked for and dropped when the entry changes. */
import { Cache } from "../base/cache";
import { logError } from "../base/log";
import { readText } from "../configuration/store";

export interface Users {
  /** Hash by user, for basic authentication. */
  readonly hashes: LuaTable<string, string | undefined>;
  /** MD5 of user:realm:password by "user:realm", for digest. */
  readonly digests: LuaTable<string, string | undefined>;
}

const tables = new Cache<Users>(1024);

/** Lines "user:hash" or "user:realm:digest", "#" before a comment; of two lines for one user the first counts, as with nginx. */
function parseUsers(text: string): Users {
  const users: Users = { hashes: new LuaTable(), digests: new LuaTable() };
  for (const [line] of string.gmatch(text, "[^\r\n]+")) {
    const [user, first, second] = string.match(line!, "^([^:#][^:]*):([^:]*):?([^:]*)");
    if (user !== undefined && first !== undefined) {
      users.hashes.set(user, users.hashes.get(user) ?? first);
      const key = `${user}:${first}`;
      users.digests.set(key, users.digests.get(key) ?? string.lower(second!));
    }
  }
  return users;
}

/** Undefined when there is no such table: nobody may pass then. */
function usersNamed(id: string): Users | undefined {
  let users = tables.get(id);
  if (users === undefined) {
    const text = readText("users", id);
    if (text === undefined) {
      logError("user table is not there", id);
      return undefined;
    }
    users = parseUsers(text);
    tables.set(id, users);
  }
  return users;
}

function forgetUsers(ids: readonly string[]): void {
  for (const id of ids) {
    tables.drop(id);
  }
}

function forgetAllUsers(): void {
  tables.clear();
}

export { forgetAllUsers, forgetUsers, parseUsers, usersNamed };
