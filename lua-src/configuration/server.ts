/** Answers /configuration/* on the unix socket. */
import { paths, type StateDocument } from "../wire";
import { type Answer, applyBatch, checkExpressions, replaceDocuments, replaceGeneral, replaceServers } from "./batch";
import { encodeDocument } from "./documents";
import { explain } from "./match";
import { settings } from "./settings";
import { countEntries, freeSpace, isReady, type Kind, listKeys, readGeneral, readText, readVersion } from "./store";
import { sync } from "./sync";

type Handler = (body: string) => Answer;

function plain(status: number, body: string): Answer {
  return { status, body };
}

function readState(): Answer {
  const state: StateDocument = {
    version: readVersion(),
    conf: settings.hash,
    pid: ngx.worker.pid(),
    counts: {
      hosts: countEntries("hosts"),
      backends: countEntries("backends"),
      certificates: countEntries("certificates"),
      servers: countEntries("servers"),
    },
    free: freeSpace(),
  };
  return plain(200, encodeDocument(state));
}

/** Entries are stored as JSON: the list needs no decoding. */
function readList(kind: Kind): Answer {
  const parts: string[] = [];
  for (const key of listKeys(kind)) {
    parts[parts.length] = readText(kind, key) ?? "{}";
  }
  return plain(200, `[${table.concat(parts, ",")}]`);
}

function argument(name: string): string | undefined {
  const value = ngx.req.get_uri_args(100).get(name);
  return type(value) === "string" ? (value as string) : undefined;
}

function readCertificate(): Answer {
  const host = argument("hostname");
  if (host === undefined || host === "") {
    return plain(400, "Hostname must be specified.");
  }
  const uid = readText("servers", host);
  const pem = uid === undefined ? undefined : readText("certificates", uid);
  return pem === undefined ? plain(404, "No key associated with this hostname.") : plain(200, pem);
}

/** Host → uid, and names of user tables and address lists: no secrets. */
function readServers(): Answer {
  const servers = new LuaTable<string, string>();
  for (const host of listKeys("servers")) {
    servers.set(host, readText("servers", host)!);
  }
  return plain(200, encodeDocument({ servers, users: listKeys("users"), networks: listKeys("networks") }));
}

const headerPrefix = "header.";

function readMatch(): Answer {
  sync();
  const uri = argument("uri") ?? "/";
  // Rules read a request's headers: the question's become this request's.
  for (const [name, value] of pairs(ngx.req.get_uri_args(100))) {
    if (string.sub(name, 1, headerPrefix.length) === headerPrefix && type(value) === "string") {
      ngx.req.set_header(string.sub(name, headerPrefix.length + 1), value as string);
    }
  }
  const question = {
    host: string.lower(argument("host") ?? ""),
    uri,
    raw: argument("raw") ?? uri,
    scheme: argument("scheme") ?? "http",
  };
  return plain(200, encodeDocument(explain(question)));
}

const readers: Record<string, Handler> = {
  [paths.backends]: () => readList("backends"),
  [paths.routes]: () => readList("hosts"),
  [paths.general]: () => plain(200, readGeneral() ?? "{}"),
  [paths.state]: readState,
  [paths.match]: readMatch,
  [paths.certs]: readCertificate,
  [paths.servers]: readServers,
};

const writers: Record<string, Handler> = {
  [paths.backends]: (body) => replaceDocuments("backends", body),
  [paths.routes]: (body) => replaceDocuments("hosts", body),
  [paths.servers]: replaceServers,
  [paths.general]: replaceGeneral,
  [paths.expressions]: checkExpressions,
};

/** The body, from memory or from the file that nginx put it into. */
function readBody(): string | undefined {
  ngx.req.read_body();
  const data = ngx.req.get_body_data();
  if (data !== undefined) {
    return data;
  }
  const file = ngx.req.get_body_file();
  if (file === undefined) {
    return undefined;
  }
  const [handle] = io.open(file, "rb");
  const text = handle?.read("*a") as string | undefined;
  handle?.close();
  return text;
}

/** A batch of this size leaves garbage that would double the worker's memory for good. */
const bigBody = 512 * 1024;

function write(handler: Handler): Answer {
  const body = readBody();
  if (body === undefined) {
    return plain(400, "no body");
  }
  const result = handler(body);
  if (body.length > bigBody) {
    collectgarbage("collect");
  }
  return result;
}

function answer(path: string, method: string): Answer {
  if (path === paths.configuration && method === "PATCH") {
    return write(applyBatch);
  }
  if (method !== "GET" && method !== "POST") {
    return plain(400, "Only POST and GET requests are allowed!");
  }
  const reader = readers[path];
  const writer = writers[path];
  if (method === "POST" && writer !== undefined) {
    return write(writer);
  }
  if (method === "GET" && reader !== undefined) {
    return reader("");
  }
  if (writer !== undefined) {
    return plain(400, "Only POST requests are allowed!");
  }
  return reader !== undefined ? plain(400, "Only GET requests are allowed!") : plain(404, "Not found!");
}

function send({ status, body }: Answer): void {
  ngx.status = status;
  ngx.header.set("Content-Length", tostring(body.length));
  if (status >= 400) {
    ngx.header.set("Content-Type", "text/plain");
  }
  ngx.print(body);
}

function run(): void {
  send(answer(ngx.var.get("uri")!, ngx.req.get_method()));
}

function ready(): void {
  send(isReady() ? plain(200, "OK\n") : plain(500, "no backends yet\n"));
}

export { ready, run };
