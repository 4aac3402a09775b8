/**
 * What a change of one Ingress costs the controller's main thread with many of them: build, documents, plan, difference.
 * usage: npm run bench:rebuild -- [--ingresses=N] [--rounds=N]
 */

import { parseArgs } from "node:util";
import { Applied } from "../../control/apply/applied.ts";
import { type Built, build } from "../../control/build/build.ts";
import { Objects } from "../../control/objects/objects.ts";
import { documentsOf, generalOf } from "../../control/plan/documents.ts";
import { partsOf } from "../../control/plan/plan.ts";
import type { KubeObject } from "../../control/source/source.ts";
import type { EndpointDocument } from "../../lua-src/wire.ts";
import { annotationPrefix, buildOptions, objectOf } from "../kit/build-input.ts";
import { median } from "./rounds.ts";

const namespaces = 50;
const noEndpoints: readonly EndpointDocument[] = [];

function ingress(index: number, timeout: number): KubeObject {
  const backend = { service: { name: `app-${index}`, port: { number: 80 } } };
  return objectOf("Ingress", {
    metadata: {
      name: `web-${index}`,
      namespace: `team-${index % namespaces}`,
      uid: `0f5b6c1e-9f4d-4a58-8c11-${String(index).padStart(12, "0")}`,
      creationTimestamp: new Date(1.7e12 + index * 1000).toISOString(),
      annotations: {
        [`${annotationPrefix}/proxy-read-timeout`]: String(timeout),
        [`${annotationPrefix}/enable-cors`]: "true",
        [`${annotationPrefix}/proxy-body-size`]: "8m",
      },
    },
    spec: {
      ingressClassName: "nginx",
      rules: [{ host: `h${index}.bench.test`, http: { paths: ["/", "/api"].map((path) => ({ path, pathType: "Prefix", backend })) } }],
    },
  });
}

function service(index: number): KubeObject {
  const metadata = { name: `app-${index}`, namespace: `team-${index % namespaces}` };
  return objectOf("Service", { metadata, spec: { clusterIP: "10.0.0.1", ports: [{ port: 80, targetPort: 8080 }] } });
}

function main(): void {
  const text = { type: "string" } as const;
  const { values } = parseArgs({ options: { ingresses: text, rounds: text } });
  const count = Number(values.ingresses ?? 5000);
  const objects = new Objects();
  const all = [objectOf("IngressClass", { metadata: { name: "nginx" }, spec: { controller: "k8s.io/ingress-nginx" } })];
  for (let i = 0; i < count; i++) all.push(ingress(i, 60), service(i));
  objects.change(all.map((object) => ({ type: "upsert", object })));
  const options = buildOptions();
  const applied = new Applied();
  let lastGood: Built["lastGood"] = new Map();
  const cycle = (): number => {
    const began = performance.now();
    const built = build(objects, lastGood, options);
    lastGood = built.lastGood;
    objects.setReferences(built.references);
    const general = generalOf(
      built.basis,
      { httpsPort: 443, healthPath: "/healthz", passthrough: false, spanSocket: "" },
      built.model.patterns,
    );
    const documents = documentsOf(built.model, general, () => noEndpoints);
    partsOf(built.model);
    applied.acknowledge(applied.difference(documents));
    return performance.now() - began;
  };
  const first = cycle();
  const times = Array.from({ length: Number(values.rounds ?? 30) }, (_, round) => {
    objects.change([{ type: "upsert", object: ingress(count >> 1, 61 + round) }]);
    return cycle();
  });
  console.log(
    `${count} Ingresses: first build ${first.toFixed(0)} ms; a change of one ${median(times).toFixed(0)} ms (at most ${Math.max(...times).toFixed(0)} ms)`,
  );
}

main();
