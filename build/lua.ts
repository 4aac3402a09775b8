/** lua-src/*.ts → dist/lua/*.lua, with TypeScriptToLua's API. Any diagnostic fails the build, warnings too. */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import ts from "typescript";
import * as tstl from "typescript-to-lua";
import { checkHotModules } from "./lua-gate.ts";

const root = process.env.SLUICE_ROOT!;

const options: tstl.CompilerOptions = {
  target: ts.ScriptTarget.ESNext,
  lib: ["lib.esnext.d.ts"],
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
  strict: true,
  noUncheckedIndexedAccess: true,
  noUnusedLocals: true,
  noImplicitOverride: true,
  erasableSyntaxOnly: true,
  skipLibCheck: true,
  types: ["lua-types/jit", "@typescript-to-lua/language-extensions"],
  typeRoots: [join(root, "node_modules")],
  luaTarget: tstl.LuaTarget.LuaJIT,
  luaLibImport: tstl.LuaLibImportKind.RequireMinimal,
  noImplicitSelf: true,
  noImplicitGlobalVariables: true,
  noHeader: true,
  noResolvePaths: ["bit", "ffi", "cjson", "cjson.safe", "ngx.*", "resty.*", "table.*"],
  configFilePath: join(root, "lua-src/tsconfig.json"),
};

function typeScriptFiles(dir: string): string[] {
  return readdirSync(dir, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => join(dir, name));
}

/** Compiles all files below the given folders but those in `except`; module names are relative to rootDir. Throws with all diagnostics. */
export function compileLua(
  rootDir: string,
  folders: readonly string[],
  outDir: string,
  except: readonly string[] = [],
): Map<string, string> {
  const files = new Map<string, string>();
  const left = new Set(except.map((name) => join(rootDir, name)));
  const names = folders.flatMap(typeScriptFiles).filter((name) => !left.has(name));
  const program = ts.createProgram(names, { ...options, rootDir, outDir } as ts.CompilerOptions);
  const { diagnostics } = new tstl.Transpiler().emit({ program, writeFile: (name, text) => files.set(relative(outDir, name), text) });
  const all = [...ts.getPreEmitDiagnostics(program), ...diagnostics];
  if (all.length > 0) {
    throw new Error(
      ts.formatDiagnostics([...all], { getCanonicalFileName: (name) => name, getCurrentDirectory: () => root, getNewLine: () => "\n" }),
    );
  }
  rmSync(outDir, { recursive: true, force: true });
  for (const [name, text] of files) {
    const path = join(outDir, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  return files;
}

/** Compiles lua-src to dist/lua and checks the hot modules. */
export function buildLua(): void {
  const source = resolve(root, "lua-src");
  const files = compileLua(source, [source], resolve(root, "dist/lua"));
  const complaints = checkHotModules(files);
  if (complaints.length > 0) {
    throw new Error(`not fit for the hot path:\n${complaints.join("\n")}`);
  }
}

if (/^lua(-\d+)?\.(ts|mjs)$/.test(process.argv[1]?.split("/").at(-1) ?? "")) {
  try {
    buildLua();
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}
