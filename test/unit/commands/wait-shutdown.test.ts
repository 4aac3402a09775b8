import { expect, test } from "vitest";
import { type Processes, type RunningProcess, waitShutdown } from "../../../control/commands/wait-shutdown.ts";

function world(rounds: readonly (readonly RunningProcess[])[]): Processes & { readonly told: number[]; pauses: number } {
  const told: number[] = [];
  let round = 0;
  const processes = {
    told,
    pauses: 0,
    list: () => rounds[Math.min(round, rounds.length - 1)]!,
    terminate: (pid: number) => {
      told.push(pid);
      round += 1;
    },
    pause: async () => {
      round += 1;
      processes.pauses += 1;
    },
  };
  return processes;
}

const controller = { pid: 1000001, name: "node", command: "node /nginx-ingress-controller --publish-service=a/b " };
const nginx = { pid: 1000002, name: "nginx", command: "nginx: master process /usr/sbin/nginx -p /tmp/sluice " };

test("the controller is told, and the end of nginx waited for", async () => {
  const processes = world([[controller, nginx], [controller, nginx], [controller, nginx], [controller]]);
  expect(await waitShutdown(processes, () => undefined)).toBe(0);
  expect(processes.told).toEqual([controller.pid]);
  expect(processes.pauses).toBe(2);
});

test("without a controller it fails with words", async () => {
  const said: string[] = [];
  expect(await waitShutdown(world([[nginx]]), (text) => said.push(text))).toBe(1);
  expect(said.join()).toContain("nginx-ingress-controller");
});

test("this process is not the one to tell", async () => {
  const self = { pid: process.pid, name: "node", command: "node /wait-shutdown nginx-ingress-controller" };
  expect(await waitShutdown(world([[self]]), () => undefined)).toBe(1);
});
