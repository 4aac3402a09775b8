// The command line of the case runner.
import { parseArgs } from "node:util";
import { NEEDS, type Need } from "./case";

export const USAGE = `usage: npm run cases -- DIR-or-FILE… [options]
  --source=folder|cluster   where the controller gets its objects (default folder)
  --only=GLOB               only cases whose id matches, * is any text; may be repeated
  --bail                    no more cases after the first that fails
  --json=FILE               write the outcome of every case
  --shuffle=SEED            in another order, the same for the same number: a case must not lean on those before
  --lanes=N                 controllers working at the same time (default 3)
  --controller=FILE         controller to run (default dist/nginx-ingress-controller.mjs)
  --assume=NEED             take this capability as given; may be repeated
  --without=NEED            take it as missing; may be repeated
  --update-expected         drop passing cases from expected-failures.txt and write its patterns out
  --keep                    leave manifests, nginx.conf and logs behind and say where
  -v                        name every case`;

export interface Options {
  readonly paths: readonly string[];
  readonly source: "folder" | "cluster";
  readonly only: readonly string[];
  readonly json: string | undefined;
  readonly lanes: number;
  readonly shuffle: number | undefined;
  readonly controller: string;
  readonly assume: readonly Need[];
  readonly without: readonly Need[];
  readonly bail: boolean;
  readonly updateExpected: boolean;
  readonly keep: boolean;
  readonly verbose: boolean;
}

function needsOf(names: readonly string[]): readonly Need[] {
  return names.map((name) => {
    const found = NEEDS.find((one) => one === name);
    if (found === undefined) throw new Error(`unknown capability ${name}; there are: ${NEEDS.join(", ")}`);
    return found;
  });
}

/** Throws an Error with a sentence for the user. */
export function parseOptions(args: readonly string[]): Options {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      source: { type: "string", default: "folder" },
      only: { type: "string", multiple: true, default: [] },
      json: { type: "string" },
      lanes: { type: "string", default: "3" },
      shuffle: { type: "string" },
      controller: { type: "string", default: "dist/nginx-ingress-controller.mjs" },
      assume: { type: "string", multiple: true, default: [] },
      without: { type: "string", multiple: true, default: [] },
      bail: { type: "boolean", default: false },
      "update-expected": { type: "boolean", default: false },
      keep: { type: "boolean", default: false },
      verbose: { type: "boolean", short: "v", default: false },
    },
  });
  const { source } = values;
  if (source !== "folder" && source !== "cluster") throw new Error(`--source is folder or cluster, not ${source}`);
  if (!/^[1-9]\d?$/.test(values.lanes)) throw new Error(`--lanes is a number from 1, not ${values.lanes}`);
  if (values.shuffle !== undefined && !/^\d{1,9}$/.test(values.shuffle)) throw new Error(`--shuffle is a number, not ${values.shuffle}`);
  if (positionals.length === 0) throw new Error("no case named");
  return {
    paths: positionals,
    source,
    only: values.only,
    json: values.json,
    lanes: Number(values.lanes),
    shuffle: values.shuffle === undefined ? undefined : Number(values.shuffle),
    controller: values.controller,
    assume: needsOf(values.assume),
    without: needsOf(values.without),
    bail: values.bail,
    updateExpected: values["update-expected"],
    keep: values.keep,
    verbose: values.verbose,
  };
}
