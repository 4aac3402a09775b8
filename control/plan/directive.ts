/** nginx's quoting: the only place that turns text into nginx.conf tokens. */
import type { Argument, Directive } from "./conf-view.ts";

/** Text that is already nginx.conf. Only this module and render.ts make it. */
export interface Printed {
  readonly printed: string;
}

const control = /[\u0000-\u001f\u007f]/;
// a geo variable of the template: nginx has no escape for "$"
const dollar = "$" + "{sluice_dollar}";
const bare = /^[A-Za-z0-9_.:/@=*+,-]+$/;

/** One nginx token. Throws on control characters, which nginx would take or log in surprising ways. */
export function quoteArgument(argument: Argument): string {
  if (typeof argument === "object" && "file" in argument) {
    throw new Error(`file ${argument.file} has no path yet`);
  }
  const literal = typeof argument === "object";
  const text = literal ? argument.literal : String(argument);
  if (control.test(text)) {
    throw new Error(`control character in nginx argument ${JSON.stringify(text)}`);
  }
  if (bare.test(text)) {
    return text;
  }
  const escaped = text.replace(/[\\"]/g, "\\$&");
  return `"${literal ? escaped.replaceAll("$", () => dollar) : escaped}"`;
}

const breaks: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** As quoteArgument, for text that may have several lines: nginx reads \n, \r and \t inside quotes as those characters. */
export function quoteLines(text: string): string {
  const words = text.split(/([\n\r\t])/).map((part) => breaks[part] ?? quoteArgument(`${part} `).slice(1, -2));
  return `"${words.join("")}"`;
}

/** `name arg arg;` — throws when the name is no plain directive name. */
export function printDirective(directive: Directive): string {
  if (!/^[a-z][a-z0-9_]*$/.test(directive.name)) {
    throw new Error(`not a directive name: ${JSON.stringify(directive.name)}`);
  }
  return `${[directive.name, ...directive.args.map(quoteArgument)].join(" ")};`;
}

/** A Lua string literal in plain ASCII that also survives nginx's scan for the end of a *_by_lua_block. */
export function quoteLua(text: string): string {
  const bytes = Buffer.from(text, "utf8");
  let out = "";
  for (const byte of bytes) {
    const char = String.fromCharCode(byte);
    out += /[A-Za-z0-9_ .,:/-]/.test(char) ? char : `\\${String(byte).padStart(3, "0")}`;
  }
  return `"${out}"`;
}
