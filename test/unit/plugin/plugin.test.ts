import { expect, test } from "vitest";
import type { PluginArguments } from "../../../control/plugin/arguments.ts";
import type { Kubectl } from "../../../control/plugin/kubectl.ts";
import { runPlugin } from "../../../control/plugin/plugin.ts";

const pods = {
  items: [
    pod("other-5b8-x", "other-5b8"),
    pod("ingress-nginx-controller-admission-1-x", "ingress-nginx-controller-admission-1"),
    pod("ingress-nginx-controller-7f9-abc", "ingress-nginx-controller-7f9"),
  ],
};

function pod(name: string, owner: string) {
  return { metadata: { name, namespace: "ingress-nginx", ownerReferences: [{ kind: "ReplicaSet", name: owner }] } };
}

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly calls: readonly string[];
}

/** Answers of kubectl by the first words after get. */
async function run(argv: readonly string[], answers: Readonly<Record<string, unknown>> = {}): Promise<Ran> {
  const calls: string[] = [];
  let out = "";
  const all: Readonly<Record<string, unknown>> = { pods, ...answers };
  const connect = (args: PluginArguments): Kubectl => {
    const note = (words: readonly string[]) => calls.push([...args.kubectl, ...words].join(" "));
    return {
      get: async <T>(words: readonly string[]) => {
        note(["get", ...words]);
        if (!(words[0]! in all)) throw new Error(`nothing for ${words[0]}`);
        return all[words[0]!] as T;
      },
      text: async (words) => {
        note(words);
        return "said\n";
      },
      hand: async (words) => {
        note(words);
        return 7;
      },
    };
  };
  const code = await runPlugin(
    argv,
    (text) => {
      out += text;
    },
    connect,
  );
  return { code, out, calls };
}

const inPod = "exec -n ingress-nginx -c controller ingress-nginx-controller-7f9-abc --";

test("commands of dbg run in the controller's pod, kubectl's own flags are handed on", async () => {
  const { calls, out } = await run(["backends", "--list", "-n", "ingress-nginx", "--context=prod", "--kubeconfig", "/k"]);
  expect(calls).toEqual([
    "--context=prod --kubeconfig=/k get pods -n ingress-nginx",
    `--context=prod --kubeconfig=/k ${inPod} /dbg backends list`,
  ]);
  expect(out).toBe("said\n");
  expect((await run(["backends", "--backend=a"])).calls[1]).toBe(`${inPod} /dbg backends get a`);
  expect((await run(["conf", "--host", "a.test"])).calls[1]).toBe(`${inPod} /dbg conf --host=a.test`);
  expect((await run(["certs", "--host=a.test"])).calls[1]).toBe(`${inPod} /dbg certs get a.test`);
  expect((await run(["general", "-l", "app=x"])).calls[0]).toBe("get pods -l app=x");
});

test("exec and ssh and logs take the terminal over", async () => {
  expect(await run(["exec", "-it", "ls", "-l", "/etc"])).toMatchObject({
    code: 7,
    calls: ["get pods", `exec -i -t ${inPod.slice(5)} ls -l /etc`],
  });
  expect((await run(["exec", "--", "ls", "-l"])).calls[1]).toBe(`${inPod} ls -l`);
  expect((await run(["ssh"])).calls[1]).toBe(`exec -it ${inPod.slice(5)} /bin/bash`);
  expect((await run(["logs", "-f", "--tail=5", "--since", "1h"])).calls[1]).toBe(
    "logs -n ingress-nginx -c controller ingress-nginx-controller-7f9-abc --follow --tail=5 --since=1h",
  );
});

test("what goes wrong: flags end with 1, commands say it and end with 0", async () => {
  expect(await run(["backends", "--wrong"])).toMatchObject({ code: 1, calls: [] });
  expect(await run(["certs"])).toMatchObject({ code: 1, calls: [] });
  expect(await run(["nonsense"])).toMatchObject({ code: 1 });
  expect(await run(["backends", "--list", "--backend=a"])).toMatchObject({
    code: 0,
    out: "--list and --backend cannot both be specified\n",
  });
  expect(await run(["general", "--deployment=none"])).toMatchObject({ code: 0, out: "no pod of the deployment none was found\n" });
});

test("info", async () => {
  const service = { spec: { clusterIP: "10.96.0.9" }, status: { loadBalancer: { ingress: [{ hostname: "lb.test" }] } } };
  expect((await run(["info"], { service })).out).toBe("Service cluster IP address: 10.96.0.9\nLoadBalancer IP|CNAME: lb.test\n");
});

const backend = { service: { name: "web", port: { number: 80 } } };
const ingresses = {
  items: [
    {
      metadata: { name: "a", namespace: "shop", annotations: { "nginx.ingress.kubernetes.io/secure-backends": "true" } },
      spec: {
        tls: [{ hosts: ["a.test"] }],
        rules: [
          {
            host: "a.test",
            http: {
              paths: [
                { path: "/", backend },
                { path: "/x", backend: { service: { name: "gone", port: { name: "http" } } } },
              ],
            },
          },
          { host: "b.test" },
        ],
      },
      status: { loadBalancer: { ingress: [{ ip: "192.0.2.1" }, { hostname: "lb.test" }] } },
    },
    { metadata: { name: "all", namespace: "shop" }, spec: { defaultBackend: backend } },
  ],
};
const slices = {
  items: [
    {
      metadata: { namespace: "shop", labels: { "kubernetes.io/service-name": "web" } },
      endpoints: [{ addresses: ["10.0.0.1"] }, { addresses: ["10.0.0.2"] }],
    },
    { metadata: { namespace: "shop", labels: { "kubernetes.io/service-name": "web" } }, endpoints: null },
  ],
};

test("the table of Ingresses", async () => {
  const answers = { "ingresses.networking.k8s.io": ingresses, "endpointslices.discovery.k8s.io": slices };
  const { out } = await run(["ing", "-A"], answers);
  const rows = out
    .trimEnd()
    .split("\n")
    .map((line) => line.split(/ {3,}/));
  expect(rows).toEqual([
    ["NAMESPACE", "INGRESS NAME", "HOST+PATH", "ADDRESSES", "TLS", "SERVICE", "SERVICE PORT", "ENDPOINTS"],
    ["shop", "a", "a.test/", "192.0.2.1,lb.test", "YES", "web", "80", "2"],
    ["shop", "a", "a.test/x", "192.0.2.1,lb.test", "YES", "gone", "http", "N/A"],
    ["shop", "a", "b.test", "192.0.2.1,lb.test", "NO", "N/A"],
    ["shop", "all", "*", "NO", "web", "80", "2"],
  ]);
  expect((await run(["ingresses", "--host=b.test"], answers)).out.trimEnd().split("\n")).toHaveLength(2);
});

test("lint: what is gone, by version", async () => {
  const container = { args: ["/nginx-ingress-controller", "--sort-backends=true"] };
  const deployments = { items: [{ metadata: { name: "ctl", namespace: "n" }, spec: { template: { spec: { containers: [container] } } } }] };
  const answers = { "ingresses.networking.k8s.io": ingresses, "deployments.apps": deployments };
  const { out } = await run(["lint", "-v", "--show-all"], answers);
  expect(out).toBe(
    [
      "Checking ingresses...",
      "✗ a",
      "  - Contains the removed secure-backends annotation.",
      "      Lint added for version 0.21.0",
      "      https://github.com/kubernetes/ingress-nginx/issues/3203",
      "",
      "✓ all",
      "Checking deployments...",
      "✗ ctl",
      "  - Uses removed config flag --sort-backends",
      "      Lint added for version 0.22.0",
      "      https://github.com/kubernetes/ingress-nginx/issues/3655",
      "",
      "",
    ].join("\n"),
  );
  expect((await run(["lint", "ingresses", "-f", "0.22.0"], answers)).out).toBe("Checking ingresses...\n");
});
