/** Compiles lua-src and the specs beside it, runs them in a real nginx worker. Exit 1 on a failure. `node build/run.mjs test/lua/run.ts` */
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import http from "node:http";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { compileLua } from "../../build/lua.ts";
import { dictionaries } from "../../lua-src/wire.ts";

interface Result {
  readonly name: string;
  readonly outcome: "passed" | "failed" | "skipped";
  readonly text?: string;
}

const root = process.env.SLUICE_ROOT!;
const modules = process.env.NGINX_MODULES ?? "/usr/lib/nginx/modules";

/** The worker loads all spec modules, in order of their names. */
function confOf(dir: string, lua: string, specs: readonly string[]): string {
  const temps = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((name) => `${name}_temp_path ${dir}/${name};`).join(" ");
  const modulesOfSpecs = specs.map((name) => `"${name.slice(0, -".lua".length).replaceAll("/", ".")}"`).join(", ");
  const shared = Object.entries(dictionaries)
    .map(([name, bytes]) => `lua_shared_dict ${name} ${bytes};`)
    .join(" ");
  return `load_module ${modules}/ndk_http_module.so; load_module ${modules}/ngx_http_lua_module.so;
daemon off; master_process off; pid ${dir}/pid; error_log ${dir}/error.log notice; ${process.getuid?.() === 0 ? "user root;" : ""}
events { worker_connections 64; }
http { access_log off; ${temps} ${shared} lua_package_path "${lua}/?.lua;${lua}/lua-src/?.lua;;";
server { listen unix:${dir}/s.sock; location / { set $balancer_ewma_score ""; set $sluice_holds ""; content_by_lua_block {
  for _, name in ipairs({ ${modulesOfSpecs} }) do require(name) end
  ngx.print(require("test.lua.spec").report()) } } } }`;
}

function ask(socketPath: string): Promise<string> {
  return new Promise((done, failed) => {
    const sent = http.get({ socketPath, path: "/", agent: false }, (reply) => {
      let body = "";
      reply.setEncoding("utf8");
      reply.on("data", (part: string) => {
        body += part;
      });
      reply.on("end", () => (reply.statusCode === 200 ? done(body) : failed(new Error(`specs answered ${reply.statusCode}`))));
    });
    sent.on("error", failed);
  });
}

/** Asks until nginx listens; anything but a missing socket is an error. */
async function askWhenReady(socketPath: string, isGone: () => boolean): Promise<string> {
  for (;;) {
    try {
      return await ask(socketPath);
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code;
      if (isGone() || (code !== "ENOENT" && code !== "ECONNREFUSED")) throw error;
      await new Promise((done) => setTimeout(done, 20));
    }
  }
}

async function runSpecs(dir: string): Promise<readonly Result[]> {
  const lua = join(dir, "lua");
  const files = compileLua(root, [resolve(root, "lua-src"), resolve(root, "test/lua")], lua, ["test/lua/run.ts"]);
  const specs = [...files.keys()].filter((name) => name.startsWith("test/lua/") && name !== "test/lua/spec.lua").sort();
  writeFileSync(join(dir, "nginx.conf"), confOf(dir, lua, specs));
  const child = spawn("nginx", ["-p", dir, "-c", join(dir, "nginx.conf"), "-e", join(dir, "error.log")], { stdio: "inherit" });
  const gone = new Promise((done) => child.once("exit", done));
  try {
    return JSON.parse(await askWhenReady(join(dir, "s.sock"), () => child.exitCode !== null)) as Result[];
  } catch (error) {
    throw new Error(`${String(error)}\n${readFileSync(join(dir, "error.log"), "utf8")}`);
  } finally {
    child.kill("SIGTERM");
    await gone;
  }
}

const dir = mkdtempSync(join(tmpdir(), "sluice-lua-"));
try {
  const results = await runSpecs(dir);
  for (const { name, outcome, text } of results) {
    if (outcome === "failed") console.log(`FAILED ${name}: ${text}`);
    if (outcome === "skipped") console.log(`  1 × ${name}: ${text}`);
  }
  const count = (outcome: Result["outcome"]) => results.filter((result) => result.outcome === outcome).length;
  console.log(`${count("passed")} passed, ${count("failed")} failed, ${count("skipped")} skipped`);
  process.exitCode = count("failed") > 0 || results.length === 0 ? 1 : 0;
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
} finally {
  rmSync(dir, { recursive: true, force: true });
}
