import { answerOf } from "../../lua-src/access/auth-answer";
import { findAnswer, keepAnswer, lifetimeOf } from "../../lua-src/access/auth-cache";
import { escapeTarget, prepareService, requestText, splitUrl } from "../../lua-src/access/auth-request";
import { exchange, type Reply } from "../../lua-src/access/http-client";
import { expandTemplate, parseTemplate } from "../../lua-src/base/template";
import { describe, expectEqual, it } from "./spec";

function reply(status: number, headers: Record<string, string[]>): Reply {
  const table = new LuaTable<string, LuaTable<number, string> | undefined>();
  for (const [name, lines] of pairs(headers as unknown as LuaTable<string, LuaTable<number, string>>)) {
    table.set(name, lines);
  }
  return { status, headers: table, persistent: true };
}

describe("auth request", () => {
  it("takes URLs apart", () => {
    const plain = { secure: false, port: 80, path: "/" };
    expectEqual(splitUrl("http://auth.test"), { ...plain, host: "auth.test" });
    expectEqual(splitUrl("http://10.0.0.1"), { ...plain, host: "10.0.0.1" });
    expectEqual(splitUrl("http://svc1:8080/a?b#c"), { secure: false, host: "svc1", port: 8080, path: "/a?b" });
    expectEqual(splitUrl("HTTPS://auth.test?x=1"), { secure: true, host: "auth.test", port: 443, path: "/?x=1" });
    expectEqual(splitUrl("http://[fd00::1]:81/"), { ...plain, host: "[fd00::1]", port: 81 });
  });

  it("refuses what cannot be asked", () => {
    for (const url of [
      "",
      "ftp://a/",
      "http:///x",
      "//a/",
      "http://a:0/",
      "http://a:65536/",
      "http://u@a/",
      "http://a b/",
      "http://a:b/",
    ]) {
      expectEqual(splitUrl(url), undefined);
    }
  });

  it("lets nothing end its lines", () => {
    expectEqual(escapeTarget("/a b\r\nX: y\0"), "/a%20b%0D%0AX:%20y%00");
    expectEqual(splitUrl("http://a/x\r\nHost: b")!.path, "/x%0D%0AHost:%20b");
    const service = prepareService({ url: "http://a/", requestHeaders: { "X-Evil": "a\r\nHost: b" } });
    const [found] = string.find(requestText(service, splitUrl("http://a/")!), "\r\nHost: b", 1, true);
    expectEqual(found, undefined);
  });

  it("says Host, what it knows of the request, and the configured headers, which win", () => {
    const service = prepareService({ url: "http://a:81/", method: "POST", requestHeaders: { "x-sent-from": "$request_method" } });
    const text = requestText(service, splitUrl("http://a:81/x")!);
    expectEqual(string.sub(text, 1, 34), "POST /x HTTP/1.1\r\nHost: a\r\nConnect");
    for (const line of ["x-sent-from: GET", "X-Original-Method: GET", "X-Original-URI: /", "X-Auth-Request-Redirect: /"]) {
      const [found] = string.find(text, `\r\n${line}\r\n`, 1, true);
      expectEqual([line, found !== undefined], [line, true]);
    }
    const [absent] = string.find(text, "X-Sent-From", 1, true);
    expectEqual(absent, undefined);
  });

  it("knows the escaped URI", () => {
    expectEqual(expandTemplate(parseTemplate(`a=$escaped_request_uri&b=${"$"}{request_method}$nothing!`)), "a=%2F&b=GET!");
  });
});

describe("auth cache", () => {
  const valid = [
    { codes: [200, 401], seconds: 300 },
    { codes: [0], seconds: 5 },
  ];

  it("follows the answer's own headers before the configured times", () => {
    expectEqual(lifetimeOf(reply(200, {}), valid), 300);
    expectEqual(lifetimeOf(reply(403, {}), valid), 5);
    expectEqual(lifetimeOf(reply(403, {}), [valid[0]!]), 0);
    expectEqual(lifetimeOf(reply(403, { "cache-control": ["public, max-age=7"] }), []), 7);
    expectEqual(lifetimeOf(reply(200, { "cache-control": ["max-age=7", "s-maxage=9"] }), valid), 9);
    expectEqual(lifetimeOf(reply(200, { "cache-control": ["No-Cache"] }), valid), 0);
    expectEqual(lifetimeOf(reply(200, { "x-accel-expires": ["3"], "cache-control": ["no-store"] }), valid), 3);
    expectEqual(lifetimeOf(reply(200, { expires: ["Thu, 01 Jan 1970 00:00:00 GMT"] }), valid) < 0, true);
    expectEqual(lifetimeOf(reply(200, { expires: ["0"] }), valid) < 0, true);
  });

  it("keeps nothing that is for one client only", () => {
    expectEqual(lifetimeOf(reply(200, { "set-cookie": ["a=b"], "x-accel-expires": ["9"] }), valid), 0);
    expectEqual(lifetimeOf(reply(200, { vary: ["Accept, *"] }), valid), 0);
  });

  it("gives back what was kept, and by the headers that the answer varies with", () => {
    const answer = reply(401, { "www-authenticate": ["Basic", "Bearer"], "x-user": ["a", "b"] });
    keepAnswer("k1", answer, answerOf(answer, ["X-User", "X-None"]), valid);
    const found = findAnswer("k1")!;
    expectEqual([found.status, found.headers.get("X-User"), found.headers.get("X-None")], [401, "a, b", undefined]);
    expectEqual(found.challenges, ["Basic", "Bearer"]);
    const varying = reply(200, { vary: ["X-Tenant"] });
    keepAnswer("k2", varying, answerOf(varying, []), valid);
    expectEqual(findAnswer("k2")!.status, 200);
    ngx.req.set_header("X-Tenant", "b");
    expectEqual(findAnswer("k2"), undefined);
    ngx.req.clear_header("X-Tenant");
    const other = reply(404, {});
    keepAnswer("k3", other, answerOf(other, []), [valid[0]!]);
    expectEqual(findAnswer("k3"), undefined);
  });
});

/** A connection whose other side says `parts`, then nothing more. */
class Talk {
  readonly parts: string[];
  at = 0;
  sent = "";
  ended = "";
  readonly times: number;
  readonly refusal: string | undefined;

  constructor(parts: string[], times: number, refusal?: string) {
    this.parts = parts;
    this.times = times;
    this.refusal = refusal;
  }

  settimeouts(): void {}

  connect(): LuaMultiReturn<[number | undefined, string | undefined]> {
    if (this.refusal === undefined) {
      return $multi(1, undefined);
    }
    return $multi(undefined, this.refusal);
  }

  send(text: string): number {
    this.sent = text;
    return text.length;
  }

  receiveany(): LuaMultiReturn<[string | undefined, string | undefined]> {
    const part = this.parts[this.at];
    this.at += 1;
    return $multi(part, part === undefined ? "closed" : undefined);
  }

  getreusedtimes(): number {
    return this.times;
  }

  setkeepalive(): void {
    this.ended = "kept";
  }

  close(): void {
    this.ended = this.ended === "" ? "closed" : this.ended;
  }
}

const sockets = ngx.socket as unknown as { tcp: () => unknown };
const realTcp = sockets.tcp;
const timeouts = { connect: 1, send: 1, read: 1 };
const keepalive = { connections: 1, requests: 10, timeout: 1 };

/** Status or problem, then what became of the last connection; `talks` are dialled in turn. */
function converse(talks: Talk[], method = "GET", host = "a"): string {
  let dialled = 0;
  sockets.tcp = () => {
    dialled += 1;
    return talks[dialled - 1];
  };
  const [answer, problem] = exchange({ secure: false, host, port: 80 }, method, "x", timeouts, keepalive);
  sockets.tcp = realTcp;
  return `${answer === undefined ? problem : answer.status} ${talks[dialled - 1]!.ended}`;
}

function once(method: string, ...parts: string[]): string {
  return converse([new Talk(parts, 0)], method);
}

describe("http client", () => {
  it("keeps a connection only where the answer's end is certain", () => {
    expectEqual(once("GET", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), "200 kept");
    expectEqual(once("GET", "HTTP/1.1 20", "0 OK\r\nContent-Le", "ngth: 2\r\n\r", "\no", "k"), "200 kept");
    expectEqual(once("HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n"), "200 kept");
    expectEqual(once("GET", "HTTP/1.1 204 No Content\r\n\r\n"), "204 kept");
    expectEqual(once("GET", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r", "\n0\r\n\r\n"), "200 kept");
    expectEqual(once("GET", "HTTP/1.1 200 OK\r\n\r\n"), "200 closed");
    expectEqual(once("GET", "HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n"), "200 closed");
    expectEqual(once("GET", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: Close\r\n\r\n"), "200 closed");
    expectEqual(once("GET", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok!"), "200 closed");
    expectEqual(once("GET", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nok"), "200 closed");
    expectEqual(once("GET", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"), "200 closed");
    expectEqual(once("GET", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX-Late: 1\r\n\r\n"), "200 closed");
    expectEqual(once("GET", "HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n"), "200 closed");
  });

  it("passes over interim answers", () => {
    expectEqual(once("GET", "HTTP/1.1 103 Early\r\nLink: x\r\n\r\nHTTP/1.1 401 No\r\nContent-Length: 0\r\n\r\n"), "401 kept");
    expectEqual(once("GET", "HTTP/1.1 101 Switching\r\n\r\n"), "101 closed");
  });

  it("refuses what is no answer, or too long", () => {
    expectEqual(once("GET", "SSH-2.0-x\r\n\r\n"), "no HTTP/1 answer closed");
    expectEqual(once("GET", "HTTP/1.1 200 OK\r\nX: a\rY: b\r\n\r\n"), "no HTTP/1 answer closed");
    expectEqual(once("GET", "HTTP/1.1 200 OK\r\nX: a\0\r\n\r\n"), "no HTTP/1 answer closed");
    expectEqual(once("GET", "HTTP/1.1 200 OK\r\nX: a"), "closed closed");
    expectEqual(once("GET", `HTTP/1.1 200 OK\r\nX: ${string.rep("a", 70000)}`), "the head is too long closed");
  });

  it("replaces a kept connection that the other side has closed, once", () => {
    expectEqual(converse([new Talk([], 3), new Talk(["HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"], 0)]), "200 closed");
    expectEqual(converse([new Talk([], 3), new Talk([], 0)]), "closed closed");
    expectEqual(converse([new Talk(["HTTP/1.1 2"], 3), new Talk([], 0)]), "closed closed");
  });

  it("tries the addresses of a name, not an address, again", () => {
    const good = new Talk(["HTTP/1.1 204 No\r\n\r\n"], 0);
    const refused = (): Talk => new Talk([], 0, "connection refused");
    expectEqual(converse([refused(), refused(), good]), "204 kept");
    for (const host of ["10.0.0.1", "[::1]"]) {
      expectEqual(converse([refused(), good], "GET", host), "connect: connection refused ");
    }
    for (const problem of ["timeout", "a could not be resolved (3: Host not found)"]) {
      expectEqual(converse([new Talk([], 0, problem), good]), `connect: ${problem} `);
    }
    expectEqual(converse([1, 2, 3, 4, 5, 6, 7, 8, 9].map(() => refused())), "connect: connection refused ");
  });

  it("ends a connection after its share of requests", () => {
    expectEqual(converse([new Talk(["HTTP/1.1 204 No\r\n\r\n"], 8)]), "204 kept");
    expectEqual(converse([new Talk(["HTTP/1.1 204 No\r\n\r\n"], 9)]), "204 closed");
  });
});
