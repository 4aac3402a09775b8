/** What must hold of the running image. */

import { strict as assert } from "node:assert";
import { execFileSync } from "node:child_process";
import { resolve } from "node:path";
import type { Container } from "./container.ts";
import type { Network } from "./network.ts";

export interface Running {
  readonly container: Container;
  readonly network: Network;
  /** Standard output of the image's curl, which knows HTTP/3. Throws when curl fails. */
  readonly http3: (...args: readonly string[]) => string;
}

export interface Check {
  readonly name: string;
  readonly run: (running: Running) => void;
}

const site = ["-H", "Host: image.test"];

const serves: Check = {
  name: "serves-http-and-https",
  run: ({ network }) => {
    assert.match(network.curl(...site, "http://127.0.0.1/a"), /backend saw image.test\/a/);
    assert.match(network.curl("--resolve", "image.test:443:127.0.0.1", "https://image.test/b"), /backend saw image.test\/b/);
  },
};

/** In the order in which they run: the last one ends the container. */
export const checks: readonly Check[] = [
  serves,
  {
    name: "serves-http3-and-announces-it",
    run: ({ network, http3 }) => {
      const head = network.curl("-D", "-", "-o", "/dev/null", "--resolve", "image.test:443:127.0.0.1", "https://image.test/");
      assert.match(head, /^alt-svc: h3=":443"; ma=86400\r$/im);
      const answer = http3("-i", "--resolve", "image.test:443:127.0.0.1", "https://image.test/three");
      assert.match(answer, /^HTTP\/3 200/);
      assert.match(answer, /backend saw image.test\/three/);
    },
  },
  {
    name: "http3-requests-have-a-host",
    run: ({ http3 }) => {
      const ask = (host: string, path: string) => http3("-i", "--resolve", `${host}:443:127.0.0.1`, `https://${host}${path}`);
      assert.match(ask("root.image.test", "/"), /^location: https:\/\/root[.]image[.]test\/start\r$/m);
      assert.match(ask("alias.image.test", "/a"), /backend saw alias[.]image[.]test\/a/);
      assert.match(ask("www.root.image.test", "/a"), /^location: https:\/\/root[.]image[.]test:443\/a\r$/m);
      const signin = "https://login.test/in?for=signin.image.test&rd=https://signin.image.test%2Fa";
      assert.ok(ask("signin.image.test", "/a").includes(`\nlocation: ${signin}\r\n`));
      assert.match(ask("asked.image.test", "/a"), /backend saw asked[.]image[.]test\/a https:\/\/asked[.]image[.]test\/a /);
    },
  },
  {
    name: "logs-to-stdout",
    run: ({ network, container }) => {
      network.curl(...site, "http://127.0.0.1/in-the-log");
      assert.match(container.logs(), /^logged \/in-the-log 200$/m);
    },
  },
  {
    name: "brotli-geoip2-and-modsecurity-load",
    run: ({ network, container }) => {
      const head = network.curl(...site, "-o", "/dev/null", "-D", "-", "-H", "Accept-Encoding: br", "http://127.0.0.1/a");
      assert.match(head, /^content-encoding: br\r$/im);
      const conf = container.exec("cat", "/etc/nginx/nginx.conf");
      for (const module of ["brotli_filter", "modsecurity", "lua", "headers_more_filter"]) {
        assert.match(conf, new RegExp(`^load_module \\S+ngx_http_${module}_module.so`, "m"));
      }
    },
  },
  {
    name: "user-and-read-only-root",
    run: ({ container }) => {
      assert.match(container.exec("id"), /^uid=101\(www-data\) gid=82\(www-data\)/);
      assert.throws(() => container.exec("touch", "/etc/nginx/written"), /Read-only file system/);
    },
  },
  {
    name: "programs-of-the-retired-image",
    run: ({ container }) => {
      assert.match(container.exec("/dbg", "backends", "list"), /default-site-80/);
      assert.match(container.exec("/dbg", "conf"), /^http \{$/m);
      assert.match(container.exec("/nginx-ingress-controller", "--version"), /\d+\.\d+\.\d+/);
      assert.match(container.exec("/kube-webhook-certgen", "version"), /\d+\.\d+\.\d+/);
    },
  },
  {
    name: "software-bill-of-materials",
    run: ({ container }) => {
      const sbom = JSON.parse(container.exec("cat", "/usr/share/sluice/sbom.spdx.json")) as {
        readonly packages: readonly { readonly name: string; readonly externalRefs: readonly { readonly referenceLocator: string }[] }[];
      };
      const locators = sbom.packages.map((one) => one.externalRefs[0]!.referenceLocator);
      for (const start of [
        "pkg:deb/debian/nginx@1.26.",
        "pkg:deb/debian/libmodsecurity3t64@",
        "pkg:npm/got@",
        "pkg:npm/%40kubernetes/client-node@",
      ]) {
        assert.ok(
          locators.some((one) => one.startsWith(start)),
          start,
        );
      }
      assert.ok(!locators.some((one) => one.startsWith("pkg:npm/vitest@")));
    },
  },
  {
    name: "malloc-library-of-the-retired-chart",
    run: ({ container }) => {
      assert.match(container.exec("sh", "-c", "cat /proc/*/maps"), /libmimalloc/);
      assert.doesNotMatch(container.logs(), /cannot be preloaded/);
    },
  },
  {
    name: "built-inside-as-outside",
    run: ({ container }) => {
      const list = "cd $0 && find . -type f ! -name '*.map' -exec sha256sum {} + | sort -k 2";
      const outside = execFileSync("sh", ["-c", list, resolve(process.env.SLUICE_ROOT!, "dist")], { encoding: "utf8" });
      assert.equal(container.exec("sh", "-c", list, "/usr/lib/sluice"), outside);
      assert.equal(container.exec("find", "/usr/lib/sluice", "-newermt", `@${process.env.SOURCE_DATE_EPOCH ?? "0"}`), "");
    },
  },
  {
    name: "wait-shutdown-ends-it",
    run: ({ container }) => {
      container.exec("/wait-shutdown");
      assert.equal(container.wait(), 0);
    },
  },
];

/** For a runtime that keeps low ports for the capability. */
export const lowPortChecks: readonly Check[] = [
  { ...serves, name: "file-capability-binds-low-ports" },
  {
    name: "stop-signal-ends-it",
    run: ({ container }) => {
      const pid = container.exec("sh", "-c", "cat /tmp/sluice/nginx.pid").trim();
      assert.match(pid, /^\d+$/);
      container.exec("sh", "-c", "kill -TERM 1");
      assert.equal(container.wait(), 0);
    },
  },
];
