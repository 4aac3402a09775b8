// Builds dist/: Lua for nginx, templates, the controller and dbg.
// usage: node build/build.mjs [lua] [control]   (default: all)

import { root } from "./install.mjs";
import { isMain } from "./main.mjs";
import { command, step } from "./steps.mjs";

const targets = {
  lua: "compiling the data plane to Lua",
  control: "bundling the controller",
};

/** @param {readonly string[]} [names] */
export async function build(names = Object.keys(targets)) {
  for (const name of names) {
    const title = targets[name];
    if (title === undefined) throw new Error(`unknown target ${name}; there are: ${Object.keys(targets).join(", ")}`);
    await step(title, process.execPath, ["build/run.mjs", `build/${name}.ts`], { cwd: root });
  }
}

if (isMain(import.meta.url)) {
  const names = process.argv.slice(2);
  await command(() => build(names.length === 0 ? undefined : names));
}
