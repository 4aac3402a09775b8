/** custom-headers: set on every answer of the location, whoever made it. */
import { list, object, text } from "../configuration/check";
import type { CustomHeadersDocument } from "../wire";
import type { Feature } from "./feature";

/** Names at odd places, their values behind them. */
interface CustomHeaders {
  readonly list: LuaTable<number, string>;
  readonly count: number;
}

function header(config: CustomHeaders): LuaMultiReturn<[number?, string?]> {
  for (const i of $range(1, config.count, 2)) {
    ngx.header.set(config.list.get(i)!, config.list.get(i + 1));
  }
  return $multi();
}

function prepare(document: CustomHeadersDocument): CustomHeaders {
  const out = new LuaTable<number, string>();
  let count = 0;
  for (const { name, value } of document.headers) {
    out.set(count + 1, name);
    out.set(count + 2, value);
    count += 2;
  }
  return { list: out, count };
}

export const customHeaders: Feature<CustomHeadersDocument, CustomHeaders> = {
  check: object({ headers: list(object({ name: text, value: text })) }),
  prepare: (document) => prepare(document),
  header,
};
