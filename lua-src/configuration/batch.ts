/** JSON bodies of /configuration → checked, stored. Nothing is stored before everything is checked. */
import { decode } from "cjson.safe";
import { routePattern } from "../router/route";
import type { BackendDocument, Batch, BatchAnswer, Changes, HostDocument, ServersDocument } from "../wire";
import type { Check } from "./check";
import { checkBackends, checkBatch, checkGeneral, checkHosts, checkServers, checkTexts, encodeDocument, findNull } from "./documents";
import { type Entries, type Kind, listKeys, readVersion, type StoredBatch, storeBatch } from "./store";

/** HTTP status and body. */
export interface Answer {
  readonly status: number;
  readonly body: string;
}

interface Problem {
  readonly host: string;
  readonly path: string;
  readonly text: string;
}

function refuse(status: number, text: string): Answer {
  return { status, body: text };
}

/** The decoded body, or what is wrong with it. */
function readDocument(text: string, check: Check): LuaMultiReturn<[unknown, string | undefined]> {
  const [document, problem] = decode(text);
  if (document === undefined) {
    return $multi(undefined, `no JSON: ${problem}`);
  }
  const [mayHoldNull] = string.find(text, "null", 1, true);
  const nullAt = mayHoldNull === undefined ? undefined : findNull(document, "body");
  if (nullAt !== undefined) {
    return $multi(undefined, `${nullAt}: null`);
  }
  return $multi(document, check(document, "body"));
}

/** The key must be the name inside, or a reader would look for it in vain. */
function encodeNamed(documents: Changes<{ readonly name: string }> | undefined): LuaMultiReturn<[Entries | undefined, string | undefined]> {
  if (documents === undefined) {
    return $multi(undefined, undefined);
  }
  const upsert = new LuaTable<string, string>();
  for (const [key, document] of pairs((documents.upsert ?? {}) as unknown as LuaTable<string, { readonly name: string }>)) {
    if (document.name !== key) {
      return $multi(undefined, `${key}: the document inside is named ${document.name}`);
    }
    upsert.set(key, encodeDocument(document));
  }
  return $multi({ upsert, remove: documents.remove ?? [] }, undefined);
}

function textEntries(changes: Changes<string> | undefined): Entries | undefined {
  if (changes === undefined) {
    return undefined;
  }
  return { upsert: (changes.upsert ?? {}) as unknown as LuaTable<string, string>, remove: changes.remove ?? [] };
}

/** Tried without the cache, which never forgets. */
function regexProblem(pattern: string): string | undefined {
  const [, , problem] = ngx.re.find("", pattern, "i");
  if (problem === undefined) {
    return undefined;
  }
  const [atRunTime] = string.find(problem, "pcre_exec", 1, true);
  return atRunTime === undefined ? problem : undefined;
}

/** POST of regular expressions that nobody has stored yet. */
function checkExpressions(text: string): Answer {
  const [document, problem] = readDocument(text, checkTexts);
  if (problem !== undefined) {
    return refuse(400, problem);
  }
  const refused = new LuaTable<string, string>();
  for (const expression of document as readonly string[]) {
    const found = regexProblem(expression);
    if (found !== undefined) {
      refused.set(expression, found);
    }
  }
  return { status: 200, body: encodeDocument({ refused }) };
}

function collectProblems(host: HostDocument, problems: Problem[]): void {
  for (const route of host.routes) {
    const text = route.kind === "regex" ? regexProblem(routePattern(route.path)) : undefined;
    const rewrite = route.features.rewrite;
    const rewriteText = rewrite === undefined ? undefined : regexProblem(rewrite.from);
    const found = text ?? rewriteText;
    if (found !== undefined) {
      problems[problems.length] = { host: host.name, path: route.path, text: found };
    }
  }
}

function hostProblems(hosts: Changes<HostDocument> | undefined): Problem[] {
  const problems: Problem[] = [];
  for (const [, host] of pairs((hosts?.upsert ?? {}) as unknown as LuaTable<string, HostDocument>)) {
    collectProblems(host, problems);
  }
  return problems;
}

function store(batch: StoredBatch): Answer | undefined {
  const failure = storeBatch(batch);
  if (failure === undefined) {
    return undefined;
  }
  const [busy] = string.find(failure, "another batch", 1, true);
  return refuse(busy === undefined ? 507 : 503, failure);
}

/** PATCH /configuration. */
function applyBatch(text: string): Answer {
  const [document, problem] = readDocument(text, checkBatch);
  if (problem !== undefined) {
    return refuse(400, problem);
  }
  const batch = document as Batch;
  const version = readVersion();
  if (batch.version <= version) {
    return refuse(409, `version ${batch.version} is not newer than ${version}`);
  }
  const [hosts, hostProblem] = encodeNamed(batch.hosts);
  const [backends, backendProblem] = encodeNamed(batch.backends);
  const misnamed = hostProblem ?? backendProblem;
  if (misnamed !== undefined) {
    return refuse(400, misnamed);
  }
  const failed = store({
    version: batch.version,
    hosts,
    backends,
    certificates: textEntries(batch.certificates),
    servers: textEntries(batch.servers),
    users: textEntries(batch.users),
    networks: textEntries(batch.networks),
    general: batch.general === undefined ? undefined : encodeDocument(batch.general),
  });
  if (failed !== undefined) {
    return failed;
  }
  const problems = hostProblems(batch.hosts);
  const answer: BatchAnswer = problems.length === 0 ? { version: batch.version } : { version: batch.version, problems };
  return { status: 200, body: encodeDocument(answer) };
}

/** The given entries, and removal of every other one of the kind. */
function replaceAll(kind: Kind, upsert: LuaTable<string, string>): Entries {
  const remove: string[] = [];
  for (const key of listKeys(kind)) {
    if (!upsert.has(key)) {
      remove[remove.length] = key;
    }
  }
  return { upsert, remove };
}

function encodeList(documents: readonly { readonly name: string }[]): LuaTable<string, string> {
  const out = new LuaTable<string, string>();
  for (const document of documents) {
    out.set(document.name, encodeDocument(document));
  }
  return out;
}

const created: Answer = { status: 201, body: "" };

/** POST of all backends or all hosts. */
function replaceDocuments(kind: "backends" | "hosts", text: string): Answer {
  const [document, problem] = readDocument(text, kind === "backends" ? checkBackends : checkHosts);
  if (problem !== undefined) {
    return refuse(400, problem);
  }
  const entries = replaceAll(kind, encodeList(document as readonly (BackendDocument | HostDocument)[]));
  return store(kind === "backends" ? { backends: entries } : { hosts: entries }) ?? created;
}

/** POST of certificates and names; the uid "-1" takes a name away. */
function replaceServers(text: string): Answer {
  const [document, problem] = readDocument(text, checkServers);
  if (problem !== undefined) {
    return refuse(400, problem);
  }
  const { certificates, servers } = document as ServersDocument;
  const kept = new LuaTable<string, string>();
  for (const [name, uid] of pairs(servers as unknown as LuaTable<string, string>)) {
    if (uid !== "-1") {
      kept.set(name, uid);
    }
  }
  const all = replaceAll("certificates", certificates as unknown as LuaTable<string, string>);
  return store({ certificates: all, servers: replaceAll("servers", kept) }) ?? created;
}

function replaceGeneral(text: string): Answer {
  const [document, problem] = readDocument(text, checkGeneral);
  if (problem !== undefined) {
    return refuse(400, problem);
  }
  return store({ general: encodeDocument(document) }) ?? created;
}

export { applyBatch, checkExpressions, replaceDocuments, replaceGeneral, replaceServers };
