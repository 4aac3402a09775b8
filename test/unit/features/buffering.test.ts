import { expect, test } from "vitest";
import { bufferSize, fileSize } from "../../../control/catalog/kinds.ts";
import { bufferSizes } from "../../../control/features/buffering.ts";

const file = "1024m";

test("sizes that nginx takes stay", () => {
  expect(bufferSizes("4k", 4, undefined, file)).toEqual({ number: 4, busy: undefined, maxTemp: file });
  expect(bufferSizes("4k", 3, undefined, "0")).toEqual({ number: 3, busy: undefined, maxTemp: "0" });
  expect(bufferSizes("4k", 4, "12k", "4k")).toEqual({ number: 4, busy: "12k", maxTemp: "4k" });
});

test("others become the nearest that it takes", () => {
  expect(bufferSizes("4k", 1, undefined, file)).toEqual({ number: 2, busy: "4096", maxTemp: file });
  expect(bufferSizes("4k", 4, "13k", file).busy).toBe("12288");
  expect(bufferSizes("4k", 4, "1k", file).busy).toBe("4096");
  expect(bufferSizes("4k", 2, "8k", "1k")).toEqual({ number: 2, busy: "4096", maxTemp: "4k" });
  expect(bufferSizes("2048m", 4, undefined, file).maxTemp).toBe("2048m");
});

test("nginx has no g there", () => {
  expect(fileSize.parse("2G")).toEqual({ ok: true, value: "2048m" });
  expect(fileSize.parse("0")).toEqual({ ok: true, value: "0" });
  expect(bufferSize.parse("1gb")).toEqual({ ok: true, value: "1024m" });
  for (const text of ["0", "0k", "00m", "1t", "-1", ""]) expect(bufferSize.parse(text).ok, text).toBe(false);
});
