/**
 * proxy-redirect-*, proxy-cookie-domain and proxy-cookie-path: nginx rewrites the backend's headers, in the profile's
 * location; the texts reach it as variables, so that one profile serves them all.
 */
import { object, text } from "../configuration/check";
import type { AnswerRewriteDocument, ReplacementDocument } from "../wire";
import type { Feature } from "./feature";

/** Variable names at odd places, their values behind them. */
interface AnswerRewrite {
  readonly list: LuaTable<number, string>;
  readonly count: number;
}

function early(config: AnswerRewrite): LuaMultiReturn<[number?, string?]> {
  for (const i of $range(1, config.count, 2)) {
    ngx.var.set(config.list.get(i)!, config.list.get(i + 1)!);
  }
  return $multi();
}

function prepare(document: AnswerRewriteDocument): AnswerRewrite {
  const out = new LuaTable<number, string>();
  let count = 0;
  const add = (name: string, replacement: ReplacementDocument | undefined) => {
    if (replacement !== undefined) {
      out.set(count + 1, `sluice_${name}_from`);
      out.set(count + 2, replacement.from);
      out.set(count + 3, `sluice_${name}_to`);
      out.set(count + 4, replacement.to);
      count += 4;
    }
  };
  add("redirect", document.redirect);
  add("cookie_domain", document.cookieDomain);
  add("cookie_path", document.cookiePath);
  return { list: out, count };
}

const replacement = object({ from: text, to: text });

export const answerRewrite: Feature<AnswerRewriteDocument, AnswerRewrite> = {
  check: object({ "redirect?": replacement, "cookieDomain?": replacement, "cookiePath?": replacement }),
  prepare: (document) => prepare(document),
  early,
};
