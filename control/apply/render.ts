/**
 * ConfView → nginx.conf. Mustache with nginx quoting in place of HTML escaping; a name that the view does not have is an
 * error, not an empty string; templates have no unescaped hole.
 */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import mustache from "mustache";
import type { Argument, ConfView, RenderedConf } from "../plan/conf-view.ts";
import { type Printed, quoteArgument } from "../plan/directive.ts";
import { templateView } from "./template-view.ts";

/** Stands in the text while it is hashed; random, so that no other text holds it. */
const hashPlaceholder = "5e81d0c79a4b26f3";

/**
 * templateDir holds nginx.conf.mustache and partials/*.mustache. Throws on control characters, on a profile id or pool
 * that is no plain word, and on a name in a template that the view lacks.
 */
export function renderConf(view: ConfView, templateDir: string): RenderedConf {
  const text = renderTemplate(templateView(view, hashPlaceholder), templateDir);
  const hash = createHash("sha256").update(text).digest("hex").slice(0, hashPlaceholder.length);
  return { text: text.replaceAll(hashPlaceholder, hash), hash };
}

class StrictContext extends mustache.Context {
  override push(view: unknown): StrictContext {
    return new StrictContext(view, this);
  }

  override lookup(name: string): unknown {
    const value: unknown = super.lookup(name);
    if (value === undefined) {
      throw new Error(`template names "${name}", the view has no such key`);
    }
    return value;
  }
}

function printValue(value: unknown): string {
  if (typeof value === "object" && value !== null && "printed" in value) {
    return (value as Printed).printed;
  }
  if (typeof value === "string" || typeof value === "number" || (typeof value === "object" && value !== null && "literal" in value)) {
    return quoteArgument(value as Argument);
  }
  throw new Error(`template prints a ${typeof value}`);
}

function renderTemplate(view: object, templateDir: string): string {
  const partials: Record<string, string> = {};
  for (const file of readdirSync(join(templateDir, "partials"))) {
    if (file.endsWith(".mustache")) {
      partials[file.slice(0, -".mustache".length)] = readTemplate(join(templateDir, "partials", file));
    }
  }
  const writer = new mustache.Writer();
  const template = readTemplate(join(templateDir, "nginx.conf.mustache"));
  function partial(name: string): string {
    const text = partials[name];
    if (text === undefined) {
      throw new Error(`no partial ${name}`);
    }
    return text;
  }
  return writer.render(template, new StrictContext(view), partial, { escape: printValue });
}

function readTemplate(path: string): string {
  const text = readFileSync(path, "utf8");
  if (text.includes("{{{") || text.includes("{{&")) {
    throw new Error(`${path}: unescaped hole`);
  }
  return text;
}
