import { expect, test } from "vitest";
import { versionBlock } from "../../../control/commands/version.ts";
import { version } from "../../../control/version.ts";

test("the version is told where there is no nginx, too", () => {
  const block = versionBlock("/no/such/nginx", []);
  expect(block).toContain(`  Release:       ${version}\n  nginx version: none (`);
});
