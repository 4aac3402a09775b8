import { expect, test } from "vitest";
import { mirrorTarget } from "../../../control/features/mirror.ts";

test.each([
  ["http://copy.test", { url: "http://copy.test$request_uri", host: "copy.test" }],
  ["https://copy.test:8443/in", { url: "https://copy.test:8443/in$is_args$args", host: "copy.test:8443" }],
  ["http://copy.test$request_uri", { url: "http://copy.test$request_uri", host: "copy.test" }],
  ["http://copy.test/a?b=1", { url: "http://copy.test/a?b=1", host: "copy.test" }],
  ["HTTP://copy.test/$host", { url: "http://copy.test/$host", host: "copy.test" }],
])("%s", (text, target) => {
  expect(mirrorTarget(text)).toEqual(target);
});

test.each(["copy.test/a", "ftp://copy.test/", "http:///a", "http://$host/", "http://:80/", "http://unix:/run/a.sock:/", "http://UNIX:/a"])(
  "%s mirrors nothing",
  (text) => {
    expect(mirrorTarget(text)).toBeTypeOf("string");
  },
);
