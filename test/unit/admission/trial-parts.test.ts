import { expect, test } from "vitest";
import { trialParts } from "../../../control/admission/trial-parts.ts";
import type { Directive, Profile } from "../../../control/plan/conf-view.ts";
import type { ConfParts } from "../../../control/plan/plan.ts";

const none: ConfParts = { profiles: new Map(), servers: new Map(), streams: new Map() };

function profile(directives: readonly Directive[], snippet?: string): ConfParts {
  const made: Profile = { id: "p", family: "http", directives, ...(snippet === undefined ? {} : { snippets: [{ snippet }] }) };
  return { ...none, profiles: new Map([["p", made]]) };
}

function isShown(text: string): boolean {
  return trialParts(profile([], text), "/t").profiles.size === 1;
}

test.each([
  "add_header A b always; more_set_headers 'X: y'; expires 1h;",
  "set $a 1; if ($a ~ 'x') { return 301 https://$host/; } rewrite ^/a /b break;",
  "location /x { proxy_pass http://127.0.0.1:80/; } location @y { internal; }",
  "proxy_pass http://$upstream_name;",
  "access_log off; modsecurity on;",
  "proxy_buffers 4 8k; grpc_read_timeout 3s; fastcgi_param A b;",
  "types { text/plain txt; }",
  "resolver 10.0.0.1 valid=5s;",
  "set_real_ip_from 10.0.0.0/8;",
])("shown: %s", (text) => {
  expect(isShown(text)).toBe(true);
});

test.each([
  "error_log /x;",
  'error"_log" /x;',
  '"error_log" /x;',
  "access_log /x;",
  "access_log syslog:server=a.test;",
  "include /etc/passwd;",
  "types { include /etc/passwd; }",
  "if ($a) { error_log /x; }",
  "location / { location /x { error_log /x; } }",
  "ssl_certificate_key engine:/x:y;",
  "proxy_ssl_certificate_key engine:/x:y;",
  "proxy_ssl_trusted_certificate /x;",
  "proxy_ssl_conf_command Certificate /x;",
  "ssl_engine x;",
  "load_module x.so;",
  "proxy_temp_path /x;",
  "client_body_temp_path /x;",
  "proxy_pass http://a.test;",
  "resolver a.test;",
  "set_real_ip_from a.test;",
  "modsecurity_rules 'SecAuditLog /x';",
  "modsecurity_rules_remote a https://a.test;",
  "modsecurity_rules_file /x;",
  "access_by_lua_block { os.exit() }",
  "access_by_lua_file /x;",
  "upstream u { server a.test; }",
  "upstream u { zone u 100g; }",
  "geo $a { include /x; }",
  "not closed",
])("not shown: %s", (text) => {
  expect(isShown(text)).toBe(false);
});

test("of typed directives only those that read no file are shown; a missing server block is no reason to leave the profile out", () => {
  const buffers: Directive = { name: "proxy_buffers", args: ["4", "8k"] };
  const parts = profile([
    buffers,
    { name: "proxy_ssl_trusted_certificate", args: [{ literal: "/x" }] },
    { name: "modsecurity_rules", args: ["x"] },
    { name: "proxy_pass", args: ["http://a.test"] },
  ]);
  const trial = trialParts({ ...parts, profiles: new Map([["p", { ...parts.profiles.get("p")!, requires: ["server gone"] }]]) }, "/t");
  expect(trial.profiles.get("p")).toEqual({ id: "p", family: "http", directives: [buffers] });
});

test("what nginx would listen on are sockets in the given folder; hosts are nobody's", () => {
  const streams = new Map([
    ["stream a", "upstream u { server 10.0.0.1:1; } server { listen [::]:53 udp ipv6only=on; listen 53; proxy_pass u; }"],
  ]);
  const servers = new Map([["server a", { names: ["victim.test"], snippet: "listen 8443 ssl; add_header A b;" }]]);
  const trial = trialParts({ ...none, servers, streams }, "/t");
  expect(trial.streams.get("stream a")).toMatch(/listen unix:\/t\/s0-\d+ udp; listen unix:\/t\/s0-\d+; proxy_pass u;/);
  expect(trial.servers.get("server a")).toEqual({
    names: ["candidate-0.invalid"],
    snippet: expect.stringMatching(/^listen unix:\/t\/h0-0 ssl; add_header A b;$/),
  });
});
