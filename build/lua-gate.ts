/** What must not occur in the Lua of modules that run at every request: it costs traces or allocations. */

/** Everything that the plain request runs through. */
const hotModules = [
  "balancer/choose.lua",
  "balancer/round-robin.lua",
  "base/cache.lua",
  "phases/balancer.lua",
  "phases/header-filter.lua",
  "phases/log.lua",
  "phases/rewrite.lua",
  "phases/server-rewrite.lua",
  "router/path.lua",
];

/** Functions inside functions, library calls other than classes, concatenation in loops, protected calls. */
export function checkHotModules(files: ReadonlyMap<string, string>): string[] {
  return hotModules.flatMap((name) => {
    const text = files.get(name);
    return text === undefined ? [`${name}: not there`] : checkModule(name, text);
  });
}

function checkModule(name: string, text: string): string[] {
  const complaints: string[] = [];
  const open: string[] = [];
  text.split("\n").forEach((line, index) => {
    const code = line.replace(/"(\\.|[^"\\])*"/g, '""');
    const complain = (what: string) => complaints.push(`${name}:${index + 1}: ${what}: ${line.trim()}`);
    const isFunction = /\bfunction\b/.test(code);
    if (isFunction && open.includes("function")) complain("function inside a function");
    if (/\bpcall\(/.test(code)) complain("protected call");
    if (/__TS__(?!Class\b)/.test(code) && open.includes("function")) complain("library call");
    if (/\.\./.test(code) && open.includes("loop")) complain("concatenation in a loop");
    if (isFunction) open.push("function");
    else if (/^\s*(for|while|repeat)\b/.test(code)) open.push("loop");
    else if (/^\s*(if\b|do\b)/.test(code)) open.push("block");
    if (/\bend\b/.test(code) || /^\s*until\b/.test(code)) open.pop();
  });
  return complaints;
}
