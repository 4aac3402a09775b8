import { expect, test } from "vitest";
import { createLogger } from "../../../control/run/logger.ts";

function lines(verbosity: number, use: (logger: ReturnType<typeof createLogger>) => void): string[] {
  const written: string[] = [];
  const now = new Date(2026, 10, 21, 12, 3, 4, 56).getTime();
  use(createLogger(verbosity, { write: (line) => written.push(line) }, { now: () => now, pause: () => Promise.resolve() }));
  return written;
}

test("a line has severity, time, process, file, message and fields", () => {
  const [line] = lines(0, (logger) =>
    logger.named("folder").warning("cannot read", { file: "a b", tries: 3, list: ["x"], left: undefined }),
  );
  expect(line).toMatch(/^W1121 12:03:04\.056000 +\d+ folder\] cannot read file="a b" tries=3 list=\["x"\]\n$/);
});

test("text from elsewhere cannot begin a line of its own", () => {
  const [line] = lines(0, (logger) => logger.error("bad\nE1121 forged", { error: new Error("one\ntwo") }));
  expect(line!.trimEnd().split("\n")).toHaveLength(1);
  expect(line).toContain('error="one\\ntwo"');
});

test("verbosity decides what is written", () => {
  const written = lines(2, (logger) => {
    logger.debug(2, "shown");
    logger.debug(3, "hidden");
  });
  expect(written.map((line) => line.includes("shown"))).toEqual([true]);
});

test("the same message is written once, another field makes it another message", () => {
  const written = lines(0, (logger) => {
    logger.logOnce("odd", { name: "a" });
    logger.named("other").logOnce("odd", { name: "a" });
    logger.logOnce("odd", { name: "b" });
  });
  expect(written).toHaveLength(2);
});
