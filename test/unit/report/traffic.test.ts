import { expect, test } from "vitest";
import { Traffic } from "../../../control/report/traffic.ts";

const settings = {
  ...{ perHost: false, undefinedHosts: false, time: [0.00001, 0.005, 2.5], length: [10, 100_000], size: [10, 1_000_000, 1e7, 2_500_000] },
  ...{ skip: [], socket: "" },
};

async function textOf(traffic: Traffic): Promise<string> {
  let text = "";
  for await (const piece of traffic.pieces()) text += piece;
  return text;
}

function traffic(statusClasses: boolean, status: number): Traffic {
  const made = new Traffic({ settings, labels: 'pod="p"', statusClasses });
  // one request that every histogram has seen in its first bucket
  made.add(["", "default", "web", "app", "/", "", "GET", status, [0, 1, 1, 1, 6, 1, 11, 1, 16, 1, 21, 1, 25, 1, 29, 1]]);
  return made;
}

function boundsOf(text: string, name: string): string[] {
  return [...text.matchAll(new RegExp(`^nginx_ingress_controller_${name}_bucket\\{.*le="([^"]*)"`, "gm"))].map((m) => m[1] ?? "");
}

test("bounds of buckets are written as Go writes them, since queries name them by their text", async () => {
  const text = await textOf(traffic(false, 200));
  expect(boundsOf(text, "request_duration_seconds")).toEqual(["1e-05", "0.005", "2.5", "+Inf"]);
  expect(boundsOf(text, "request_size")).toEqual(["10", "100000", "+Inf"]);
  expect(boundsOf(text, "bytes_sent")).toEqual(["10", "1e+06", "1e+07", "2.5e+06", "+Inf"]);
});

test("a request that ended without an answer has the status that logs give it", async () => {
  expect(await textOf(traffic(false, 0))).toContain('status="000"');
  expect(await textOf(traffic(true, 0))).toContain('status="0xx"');
  expect(await textOf(traffic(true, 499))).toContain('status="4xx"');
});
