import { expect, test } from "vitest";
import { earlyLines, markedText, splitFirst } from "../../../control/apply/snippet-lines.ts";

test("a rewrite after which nginx would search stops with a mark, others stay", () => {
  const snippet = `if ($a) { rewrite ^/a /b last; }
rewrite ^/c /d break;
rewrite ^/e https://x.test/ ;
rewrite ^/f /g redirect;
rewrite "^/h i" /j$1;`;
  expect(markedText({ snippet })).toBe(`if ($a) { rewrite "^/a" "/~search/b" break; }
rewrite ^/c /d break;
rewrite ^/e https://x.test/ ;
rewrite ^/f /g redirect;
rewrite "^/h i" "/~search/j$1" break;`);
});

test("a server's text is split into what runs before routing and the rest", () => {
  const text = 'set $a b; location /x { return 200; } if ($c) { return 403; } add_header A "b;c"; rewrite ^/o /n last;';
  expect(splitFirst(text, true)).toEqual({
    first: 'set $a b;\nif ($c) { return 403; }\nrewrite "^/o" /n break;',
    rest: ' location /x { return 200; }  add_header A "b;c"; ',
  });
  expect(splitFirst(text, false)).toEqual({ first: "", rest: text });
});

test("the limit of the body counts where nginx finds the location", () => {
  expect(earlyLines([{ snippet: 'more_set_headers "a: b"; client_max_body_size 5m; if ($a) { set $b c; }' }])).toEqual([
    "client_max_body_size 5m;",
  ]);
});
