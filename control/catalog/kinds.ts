/**
 * Kinds of text: what an annotation or ConfigMap value may look like and what it means. A kind accepts only what
 * can be honoured; whatever it accepts is safe to hand on as data.
 */

import { parseCidr } from "./cidr.ts";

/** `dropped`: a part that was left out, for the finding. */
export type Parsed<T> =
  | { readonly ok: true; readonly value: T; readonly dropped?: string }
  | { readonly ok: false; readonly reason: string };

export interface Kind<T> {
  /** For docs: "bool", "size", "on | off". */
  readonly label: string;
  readonly parse: (text: string) => Parsed<T>;
  /** In place of parse with --enable-annotation-validation=false; still only what is safe as data. */
  readonly unchecked?: (text: string) => Parsed<T>;
  /** [accepted, refused]; both are checked by the catalogue's test. refused is absent where every text is fine. */
  readonly examples: readonly [good: string, bad?: string];
  /** A value as users write it, for docs; absent: the value is its own text. */
  print?(value: T): string;
  /** JSON schema of the text, for editors. */
  readonly schema: Readonly<Record<string, unknown>>;
}

function ok<T>(value: T): Parsed<T> {
  return { ok: true, value };
}

function no(reason: string): { readonly ok: false; readonly reason: string } {
  return { ok: false, reason };
}

const yes = new Set(["1", "t", "T", "TRUE", "true", "True"]);
const nay = new Set(["0", "f", "F", "FALSE", "false", "False"]);

/** The set of Go's ParseBool, which users' manifests were written against. */
export const bool: Kind<boolean> = {
  label: "bool",
  parse: (text) => (yes.has(text.trim()) ? ok(true) : nay.has(text.trim()) ? ok(false) : no(`"${text}" is neither true nor false`)),
  examples: ["true", "yes"],
  schema: { type: "string", enum: [...yes, ...nay] },
};

/** A decimal number between min and max, both included. */
export function int(min = 0, max = 2 ** 31 - 1): Kind<number> {
  return {
    label: "int",
    parse(text) {
      const t = text.trim();
      if (!/^[+-]?\d{1,15}$/.test(t)) return no(`"${text}" is not a whole number`);
      const n = Number(t);
      return n < min || n > max ? no(`${n} is not between ${min} and ${max}`) : ok(n);
    },
    examples: [String(Math.max(min, Math.min(max, 302))), "many"],
    schema: { type: "string", pattern: "^[+-]?[0-9]+$" },
  };
}

/** One of the words; in any case when fold is set (the value is then the word as listed). */
export function oneOf<const T extends string>(words: readonly T[], fold = false): Kind<T> {
  return {
    label: words.join(" | "),
    parse(text) {
      const t = text.trim();
      const hit = words.find((w) => w === t || (fold && w.toLowerCase() === t.toLowerCase()));
      return hit === undefined ? no(`"${text}" is none of ${words.join(", ")}`) : ok(hit);
    },
    examples: [words[0] ?? "", "neither-of-these"],
    schema: fold ? { type: "string" } : { type: "string", enum: [...words] },
  };
}

/** Bytes as nginx writes them: digits with an optional k, m or g; a final b is cut. The value is nginx's text. */
export const size: Kind<string> = {
  label: "size",
  parse(text) {
    const m = /^(\d{1,12})([kmg]?)b?$/i.exec(text.replace(/\s+/g, ""));
    return m === null ? no(`"${text}" is not a size such as 8k or 10m`) : ok(`${m[1]}${(m[2] ?? "").toLowerCase()}`);
  },
  examples: ["8k", "8 kilobytes"],
  schema: { type: "string", pattern: "^[0-9]+[bkmgBKMG]?$" },
};

/** Sizes that nginx takes nearly everywhere: there is no g. */
export const fileSize: Kind<string> = {
  ...size,
  parse(text) {
    const parsed = size.parse(text);
    const g = parsed.ok ? /^(\d+)g$/.exec(parsed.value) : null;
    return g === null ? parsed : ok(`${Number(g[1]) * 1024}m`);
  },
};

/** Sizes of buffers. */
export const bufferSize: Kind<string> = {
  ...size,
  parse(text) {
    const parsed = fileSize.parse(text);
    return parsed.ok && /^0+[km]?$/.test(parsed.value) ? no("a buffer cannot be empty") : parsed;
  },
};

/** nginx time: digits with an optional unit (ms s m h d w M y), several in a row. */
export const time: Kind<string> = {
  label: "time",
  parse: (text) => (/^(\d{1,9}(ms|[smhdwMy])?)+$/.test(text.trim()) ? ok(text.trim()) : no(`"${text}" is not a time such as 30s or 1h`)),
  examples: ["30s", "soon"],
  schema: { type: "string" },
};

/** Free text that matches the pattern as a whole. */
export function pattern(label: string, regex: RegExp, good: string, bad: string): Kind<string> {
  return {
    label,
    parse: (text) => (regex.test(text.trim()) ? ok(text.trim()) : no(`"${clip(text)}" is not ${article(label)}`)),
    examples: [good, bad],
    schema: { type: "string", pattern: regex.source },
  };
}

/** A pattern that is good manners, no need: without validation any line of text is taken. */
function manners(kind: Kind<string>): Kind<string> {
  return { ...kind, unchecked: (text) => line.parse(text) };
}

/** Items between commas, trimmed, empty ones dropped; refused as a whole when one item is refused. */
export function listOf<T>(item: Kind<T>): Kind<readonly T[]> {
  return {
    label: `list of ${item.label}`,
    parse(text) {
      const out: T[] = [];
      for (const part of text.split(",")) {
        if (part.trim() === "") continue;
        const parsed = item.parse(part.trim());
        if (!parsed.ok) return parsed;
        out.push(parsed.value);
      }
      return ok(out);
    },
    examples: item.examples[1] === undefined ? [item.examples[0]] : [item.examples[0], item.examples[1]],
    schema: { type: "string" },
  };
}

/** As listOf, but only the bad items are left out. */
export function sift<T>(item: Kind<T>): Kind<readonly T[]> {
  return {
    ...listOf(item),
    parse(text) {
      const parts = text.split(",").flatMap((p) => (p.trim() === "" ? [] : [item.parse(p.trim())]));
      const value = parts.flatMap((p) => (p.ok ? [p.value] : []));
      const reasons = parts.flatMap((p) => (p.ok ? [] : [p.reason]));
      return reasons.length === 0 ? ok(value) : { ok: true, value, dropped: `${reasons.join("; ")}; left out` };
    },
    examples: item.examples[1] === undefined ? [item.examples[0]] : [`${item.examples[0]},${item.examples[1]}`],
  };
}

/** Any text without control characters other than white space. */
export const text: Kind<string> = {
  label: "text",
  parse: (t) => (/[\0-\x08\x0b\x0c\x0e-\x1f\x7f]/.test(t) ? no("it holds control characters") : ok(t)),
  examples: ["some text", "\u0000"],
  schema: { type: "string" },
};

/** One line for nginx.conf, trimmed. */
export const line: Kind<string> = {
  ...text,
  label: "line of text",
  parse: (t) => (/[\0-\x1f\x7f]/.test(t.trim()) ? no("it holds control characters or several lines") : ok(t.trim())),
};

/** nginx configuration or ModSecurity rules; gated before it is ever used. */
export const snippet: Kind<string> = { ...text, label: "nginx configuration" };

const basic = "A-Za-z0-9\\-._~/:";

export const basicText = manners(pattern("text of letters, digits and - . _ ~ / :", new RegExp(`^[${basic}]*$`), "default/secret", "a;b"));
export const urlPath = manners(pattern("path, may hold $1 to $9", new RegExp(`^/?[${basic}$]*$`), "/$2", "/a b"));
export const absolutePath: Kind<string> = {
  ...pattern("absolute path", new RegExp(`^/[${basic}]*$`), "/app", "app root"),
  unchecked: (t) => (t.trim().startsWith("/") ? line.parse(t) : no(`"${clip(t)}" does not begin with a slash`)),
};
export const url = manners(pattern("URL", new RegExp(`^[${basic},?&= ]+$`), "https://example.test/x?y=1", 'https://x.test/"'));
/** As url, in one word. */
export const urlWord = manners(pattern("URL or path", new RegExp(`^[${basic},?&=]+$`), "https://example.test/x?y=1", "https://x.test/ y"));
/** One word of any printable text, which may name nginx variables. */
export const anyWord = pattern("word", /^[\x21-\x7e]+$/, "http://x.test$request_uri", "a b");
/** A URL whose parts may be nginx variables. */
export const urlWithVariables = manners(
  pattern("URL, may hold variables", new RegExp(`^[${basic},?&=$ ]+$`), "https://auth.test/$request_uri", "{x}"),
);
export const hostText = manners(
  pattern("host name, may hold variables or a pattern", new RegExp(`^[${basic}^$\\[\\](){}*+?|&=\\\\]+$`), "api.example.test", "a b"),
);
export const variableText = manners(pattern("text with nginx variables", /^[A-Za-z0-9\-_${}]+$/, "$request_uri", "a b"));
export const headerName = pattern("header name", /^[A-Za-z0-9_-]+$/, "X-User", "X User");
export const serviceName = pattern("Service name", /^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/, "echo", "Echo_1");
export const cookieName = pattern("cookie name", /^[A-Za-z0-9\-._~/:]+$/, "route", "a;b");

/** An address or a network; the value is the network in canonical text. */
export const cidr: Kind<string> = {
  label: "IP address or CIDR",
  parse(t) {
    const parsed = parseCidr(t.trim());
    return parsed === undefined ? no(`"${t}" is neither an IP address nor a CIDR`) : ok(parsed);
  },
  examples: ["10.0.0.0/8", "10.0.0.0/33"],
  schema: { type: "string" },
};

/** Networks between commas; an empty item is a mistake too, so that no list means "everybody" by accident. */
export const cidrList: Kind<readonly string[]> = {
  label: "list of IP addresses and CIDRs",
  parse(t) {
    const out: string[] = [];
    for (const item of t.split(",")) {
      const parsed = cidr.parse(item);
      if (!parsed.ok) return parsed;
      out.push(parsed.value);
    }
    return ok(out);
  },
  examples: ["10.0.0.0/8, ::1", "10.0.0.0/8,,"],
  schema: { type: "string" },
};

/** namespace/name, or a bare name of the object's own namespace. */
export interface RefText {
  readonly namespace: string | undefined;
  readonly name: string;
}

/** Data of the object that a ConfigMap key names, by the object's own keys. */
export interface NamedObject {
  readonly namespace: string | undefined;
  readonly name: string;
  /** Undefined: there is no such object. */
  readonly data: Readonly<Record<string, string>> | undefined;
}

export const ref: Kind<RefText> = {
  label: "[namespace/]name",
  parse(t) {
    const m = /^(?:([a-z0-9][a-z0-9.-]*)\/)?([a-z0-9][a-z0-9.-]*)$/.exec(t.trim());
    return m === null ? no(`"${clip(t)}" is not a name or namespace/name`) : ok({ namespace: m[1], name: m[2] ?? "" });
  },
  examples: ["default/web", "a/b/c"],
  schema: { type: "string" },
};

/** ref for a ConfigMap key whose row says what it reads; build/ fills in the data. */
export const namedObject: Kind<NamedObject> = {
  label: ref.label,
  examples: ref.examples,
  schema: ref.schema,
  parse(t) {
    const parsed = ref.parse(t);
    return parsed.ok ? ok({ ...parsed.value, data: undefined }) : parsed;
  },
};

/** A PCRE-like expression; what JavaScript cannot even balance is refused here, the rest is tried by the data plane. */
export const regexText: Kind<string> = {
  label: "regular expression",
  parse(t) {
    try {
      new RegExp(t.replace(/\(\?[imsx]+\)/g, "").replace(/[*+?}]\+/g, (m) => m.slice(0, 1)));
      return ok(t);
    } catch (error) {
      return no(`"${clip(t)}" is not a regular expression: ${(error as Error).message}`);
    }
  },
  examples: ["^v[0-9]+$", "("],
  schema: { type: "string" },
};

function clip(t: string): string {
  return t.length > 80 ? `${t.slice(0, 80)}…` : t;
}

function article(label: string): string {
  return /^(text|list)/.test(label) ? label : `a ${label}`;
}
