/** Reads text in nginx's own language, as nginx splits it: what a snippet holds, and whether it stays within its block. */

export interface Statement {
  /** Name and arguments, quotes taken off. */
  readonly words: readonly string[];
  /** Statements of its block; of a Lua block none. */
  readonly block?: readonly Statement[];
  /** Where it begins and ends in the text. */
  readonly from: number;
  readonly to: number;
}

export type NginxText = { readonly ok: true; readonly statements: readonly Statement[] } | { readonly ok: false; readonly reason: string };

/** A snippet may not close the block that it stands in, nor leave a statement open for what follows it. */
export function readNginxText(text: string): NginxText {
  const bad = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f]/.test(text);
  if (bad) return { ok: false, reason: "it holds control characters" };
  try {
    const reader = new Reader(text);
    return { ok: true, statements: reader.block(true) };
  } catch (error) {
    if (error instanceof Unreadable) return { ok: false, reason: error.message };
    throw error;
  }
}

class Unreadable extends Error {}

/** To nginx other spaces, as U+00A0 is one, are parts of words. */
function isBlank(char: string | undefined): boolean {
  return char === " " || char === "\t" || char === "\r" || char === "\n";
}

class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** Up to the end of the block; of the whole text when `outermost`. */
  block(outermost: boolean): Statement[] {
    const statements: Statement[] = [];
    let words: string[] = [];
    let from = 0;
    for (;;) {
      const start = this.#skipBlank();
      const char = this.#text[start];
      if (words.length === 0) from = start;
      if (char === undefined) {
        if (words.length > 0) throw new Unreadable(`"${words.join(" ").slice(0, 60)}" is not ended with ;`);
        if (!outermost) throw new Unreadable("a block is not closed");
        return statements;
      }
      if (char === "}") {
        if (words.length > 0) throw new Unreadable(`"${words.join(" ").slice(0, 60)}" is not ended with ;`);
        if (outermost) throw new Unreadable('it closes a block that is not its own with "}"');
        this.#at += 1;
        return statements;
      }
      if (char === ";" || char === "{") {
        if (words.length === 0) throw new Unreadable(`"${char}" without a directive`);
        this.#at += 1;
        const block = char === ";" ? undefined : this.#blockOf(words);
        statements.push({ words, ...(block === undefined ? {} : { block }), from, to: this.#at });
        words = [];
      } else words.push(char === '"' || char === "'" ? this.#quoted(char) : this.#bare());
    }
  }

  #blockOf(words: readonly string[]): Statement[] {
    if (!/_by_lua_block$/.test(words[0] ?? "")) return this.block(false);
    this.#skipLua();
    return [];
  }

  #skipBlank(): number {
    for (;;) {
      while (isBlank(this.#text[this.#at])) this.#at += 1;
      if (this.#text[this.#at] !== "#") return this.#at;
      const end = this.#text.indexOf("\n", this.#at);
      this.#at = end < 0 ? this.#text.length : end;
    }
  }

  #quoted(quote: string): string {
    let out = "";
    for (this.#at += 1; ; this.#at += 1) {
      const char = this.#text[this.#at];
      if (char === undefined) throw new Unreadable(`a text in ${quote} is not closed`);
      if (char === quote) break;
      out += char === "\\" ? this.#escaped() : char;
    }
    this.#at += 1;
    const next = this.#text[this.#at] ?? ";";
    if (!isBlank(next) && !";{)".includes(next)) throw new Unreadable(`unexpected "${next}" after a quoted text`);
    return out;
  }

  #escaped(): string {
    this.#at += 1;
    const char = this.#text[this.#at] ?? "";
    return /["'\\]/.test(char) ? char : `\\${char}`;
  }

  #bare(): string {
    let out = "";
    let variable = false;
    for (; this.#at < this.#text.length; this.#at += 1) {
      const char = this.#text[this.#at] as string;
      // nginx does not leave this state at the brace: all of "${{{" is part of the word.
      if (char !== "{" || !variable) {
        if (isBlank(char) || char === ";" || char === "{") break;
        variable = char === "$";
      }
      out += char === "\\" ? this.#escaped() : char;
    }
    return out;
  }

  /** Lua up to its closing brace: braces in its strings and comments do not count. */
  #skipLua(): void {
    const token = /--\[(=*)\[[\s\S]*?\]\1\]|--[^\n]*|\[(=*)\[[\s\S]*?\]\2\]|"(?:[^"\\]|\\[\s\S])*"|'(?:[^'\\]|\\[\s\S])*'|[{}]/g;
    let depth = 1;
    token.lastIndex = this.#at;
    for (let m = token.exec(this.#text); m !== null; m = token.exec(this.#text)) {
      depth += m[0] === "{" ? 1 : m[0] === "}" ? -1 : 0;
      if (depth > 0) continue;
      this.#at = token.lastIndex;
      return;
    }
    throw new Unreadable("a Lua block is not closed");
  }
}

/** All statements, those of blocks too. */
export function allStatements(statements: readonly Statement[]): Statement[] {
  return statements.flatMap((s) => [s, ...allStatements(s.block ?? [])]);
}

/** Empty when the text cannot be read. */
export function statementsOf(text: string): readonly Statement[] {
  const read = readNginxText(text);
  return read.ok ? read.statements : [];
}

/** Names of the `location @name` that the text defines, with "@". */
export function namedLocations(text: string): readonly string[] {
  return statementsOf(text).flatMap(({ words: [name, first = ""] }) => (name === "location" && first.startsWith("@") ? [first] : []));
}
