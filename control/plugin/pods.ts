/** Which pod of the controller a command is for. */

import type { PluginArguments } from "./arguments.ts";
import type { Kubectl } from "./kubectl.ts";

export interface ChosenPod {
  readonly namespace: string;
  readonly name: string;
  readonly container: string;
}

interface Pod {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly ownerReferences?: readonly { readonly kind: string; readonly name: string }[];
  };
}

export async function choosePod(args: PluginArguments, kubectl: Kubectl): Promise<ChosenPod> {
  const container = args.values.get("container") ?? "controller";
  const where = args.namespace === "" ? [] : ["-n", args.namespace];
  const name = args.values.get("pod");
  if (name !== undefined) {
    const pod = await kubectl.get<Pod>(["pod", name, ...where]);
    return { namespace: pod.metadata.namespace, name, container };
  }
  const selector = args.values.get("selector");
  const { items } = await kubectl.get<{ readonly items: readonly Pod[] }>([
    "pods",
    ...where,
    ...(selector === undefined ? [] : ["-l", selector]),
  ]);
  const deployment = args.values.get("deployment") ?? "ingress-nginx-controller";
  const found = selector === undefined ? items.find((pod) => ownedBy(pod, deployment)) : items[0];
  if (found === undefined) {
    throw new Error(
      selector === undefined ? `no pod of the deployment ${deployment} was found` : `no pod matches the selector ${selector}`,
    );
  }
  return { namespace: found.metadata.namespace, name: found.metadata.name, container };
}

/** By its ReplicaSet, <deployment>-<one segment>. */
function ownedBy(pod: Pod, deployment: string): boolean {
  return (pod.metadata.ownerReferences ?? []).some(
    ({ kind, name }) => kind === "ReplicaSet" && name.startsWith(`${deployment}-`) && !name.slice(deployment.length + 1).includes("-"),
  );
}

export function execArguments(pod: ChosenPod, command: readonly string[], flags: readonly string[] = []): string[] {
  return ["exec", ...flags, "-n", pod.namespace, "-c", pod.container, pod.name, "--", ...command];
}
