import { expect, test } from "vitest";
import { namesVariable, variableProblem } from "../../../control/catalog/nginx-variables.ts";

const braced = (name: string) => `$\{${name}}`;

test("texts that nginx takes", () => {
  for (const text of [
    "",
    "plain",
    "$host",
    `a${braced("host")}b`,
    "$http_x_foo$arg_a",
    "$cookie_b.",
    "$upstream_http_server",
    "$namespace",
  ]) {
    expect(variableProblem(text), text).toBeUndefined();
  }
});

test("texts that would make nginx refuse its file", () => {
  for (const text of ["$", "100$", "$ x", "$nobody", braced("nobody"), "$" + "{host", "$" + "{}", "$-", "$http_", "$1x", "$$host"]) {
    expect(variableProblem(text), text).toBeTypeOf("string");
  }
});

test("a name is the whole name", () => {
  expect(namesVariable("a$namespace-b", "namespace")).toBe(true);
  expect(namesVariable(braced("namespace"), "namespace")).toBe(true);
  expect(namesVariable("$namespace_x", "namespace")).toBe(false);
  expect(namesVariable("namespace", "namespace")).toBe(false);
});
