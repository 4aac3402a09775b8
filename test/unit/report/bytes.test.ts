import { expect, test } from "vitest";
import { Bytes } from "../../../control/report/bytes.ts";

test("numbers are written as String writes them", () => {
  const numbers = [0, 1, 9, 10, 99, 100, 12_345, 999_999_999, 1e9, 2 ** 53, 1e21, 0.1, 1.5e-7, -3, Number.NaN];
  const out = new Bytes(1);
  for (const number of numbers) out.number(number);
  expect(out.take().toString()).toBe(numbers.map((number) => `${number}\n`).join(""));
});

test("a text outgrows its buffer, and the next one does not touch what was taken", () => {
  const out = new Bytes(4);
  out.text("größe{");
  const to = out.length;
  out.bytes(Buffer.from("a"));
  out.again(0, to);
  out.bytes(Buffer.from("b".repeat(40)));
  const taken = out.take();
  out.text("x".repeat(100));
  const next = out.take();
  expect(taken.toString()).toBe(`größe{agröße{${"b".repeat(40)}`);
  expect(next.toString()).toBe("x".repeat(100));
});
