import { describe, expect, test } from "vitest";
import { allStatements, readNginxText } from "../../../control/catalog/nginx-text.ts";

function words(text: string): (readonly string[])[] {
  const read = readNginxText(text);
  return read.ok ? allStatements(read.statements).map((s) => s.words) : [[`refused: ${read.reason}`]];
}

test("statements, blocks and comments, quotes taken off", () => {
  const text = `
    # set $a b;
    set $a "x; y}"; if ($b ~ '^/a{2}') { return 403; }
    location ~* \\.php$ { deny all; }`;
  expect(words(text)).toEqual([
    ["set", "$a", "x; y}"],
    ["if", "($b", "~", "^/a{2}", ")"],
    ["return", "403"],
    ["location", "~*", "\\.php$"],
    ["deny", "all"],
  ]);
});

test("a brace after a dollar sign belongs to a variable", () => {
  expect(words("return 301 https://$" + "{host}/x;")).toEqual([["return", "301", "https://$" + "{host}/x"]]);
});

test("where one brace belongs to a variable, so do those that follow at once", () => {
  const braces = "$" + "{{";
  expect(words(`proxy_no_cache ${braces} a; } location /x {`)).toEqual([[expect.stringContaining("closes a block")]]);
  expect(words(`proxy_no_cache ${braces} a;`)).toEqual([["proxy_no_cache", braces, "a"]]);
});

test("a dollar sign after a backslash begins no variable", () => {
  expect(words("proxy_no_cache \\${ a;")).toEqual([[expect.stringContaining("not closed")]]);
});

test("only nginx's own blanks end a word and let a comment begin", () => {
  expect(words("set $a b\u00a0#;error_log /tmp/x; add_header A\nB;")).toEqual([
    ["set", "$a", "b\u00a0#"],
    ["error_log", "/tmp/x"],
    ["add_header", "A", "B"],
  ]);
  expect(words("set $a b\u2028#;}\n;")).toEqual([[expect.stringContaining("closes a block")]]);
  expect(words('set $a "b"\ufeff;')).toEqual([[expect.stringContaining("after a quoted text")]]);
});

test("braces in Lua's strings and comments do not count", () => {
  expect(words('access_by_lua_block { local s = "}" -- }\n if s then return [[}]] end } return 200;')).toEqual([
    ["access_by_lua_block"],
    ["return", "200"],
  ]);
});

describe("text that would not stay within its block is refused", () => {
  test.each([
    ["deny all", "not ended with ;"],
    ["deny all; }", "closes a block"],
    ["} location / {", "closes a block"],
    ["if ($a) { return 200;", "not closed"],
    ['set $a "b;', "not closed"],
    ["set $a 'b'c;", "after a quoted text"],
    ["deny all; \0", "control characters"],
    ["access_by_lua_block { ngx.say('}')", "Lua block is not closed"],
    [";", "without a directive"],
  ])("%j", (text, reason) => {
    const read = readNginxText(text);
    expect(read.ok ? "accepted" : read.reason).toContain(reason);
  });
});

test("a statement knows its place in the text", () => {
  const text = "set $a b;  rewrite ^/x /y last; # end";
  const read = readNginxText(text);
  expect(read.ok && read.statements.map((s) => text.slice(s.from, s.to))).toEqual(["set $a b;", "rewrite ^/x /y last;"]);
});
