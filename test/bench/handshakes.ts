/** What a TLS handshake costs the worker: full and resumed, a certificate by SNI from Lua beside nginx's static one. */

import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { connect, createSecureContext, type SecureVersion, type TLSSocket } from "node:tls";
import { freePorts } from "../../build/free-ports.ts";
import { end } from "../../build/processes.ts";
import { selfSigned } from "../kit/certificates.ts";
import { Controller } from "../kit/controller.ts";
import { configMap, endpointSlices, ingress, ingressClass, service, tlsSecret } from "../kit/manifests.ts";
import { cpuNanoseconds, workersOf } from "../kit/worker-processes.ts";
import { frame, startNginx } from "./plain-nginx.ts";
import { median } from "./rounds.ts";

export interface HandshakeRow {
  readonly kind: string;
  /** Of one worker that does nothing else: a second over the CPU time of one. */
  readonly plainPerSecond: number;
  readonly sluicePerSecond: number;
  /** Of Sluice's rate to plain nginx's: median over pairs of runs next to each other, as the machine's speed drifts. */
  readonly ratio: number;
}

interface Kind {
  readonly name: string;
  readonly version: SecureVersion;
  readonly resumed: boolean;
}

const kinds: readonly Kind[] = [
  { name: "full, TLS 1.3", version: "TLSv1.3", resumed: false },
  { name: "full, TLS 1.2", version: "TLSv1.2", resumed: false },
  { name: "resumed, TLS 1.3", version: "TLSv1.3", resumed: true },
  { name: "resumed, TLS 1.2", version: "TLSv1.2", resumed: true },
];

const host = "tls.bench.test";
const lanes = 8;
/** Runs of each side in a round. */
const pairs = 5;

function open(port: number, kind: Kind, ca: string, session: Buffer | undefined): TLSSocket {
  const secureContext = createSecureContext({ ca, minVersion: kind.version, maxVersion: kind.version });
  return connect({ host: "127.0.0.1", port, servername: host, secureContext, session });
}

/** A session to resume; TLS 1.3 sends it after the handshake. */
async function sessionOf(port: number, kind: Kind, ca: string): Promise<Buffer> {
  const socket = open(port, kind, ca, undefined);
  const [session] = (await once(socket, "session")) as [Buffer];
  socket.destroy();
  return session;
}

async function handshake(port: number, kind: Kind, ca: string, session: Buffer | undefined): Promise<void> {
  const socket = open(port, kind, ca, session);
  await once(socket, "secureConnect");
  if (socket.isSessionReused() !== kind.resumed) throw new Error(`${kind.name}: the session was ${kind.resumed ? "not " : ""}resumed`);
  const closed = once(socket, "close");
  socket.resume();
  socket.end();
  await closed;
}

/** CPU time of the worker for one handshake, in nanoseconds. */
async function measure(target: { readonly port: number; readonly worker: number }, kind: Kind, ca: string, count: number): Promise<number> {
  const session = kind.resumed ? await sessionOf(target.port, kind, ca) : undefined;
  const before = cpuNanoseconds(target.worker);
  const each = Math.ceil(count / lanes);
  await Promise.all(
    Array.from({ length: lanes }, async () => {
      for (let done = 0; done < each; done++) await handshake(target.port, kind, ca, session);
    }),
  );
  return (cpuNanoseconds(target.worker) - before) / (each * lanes);
}

/** With every TLS setting that Sluice's nginx runs with, so that only the way to the certificate differs. */
function plainText(dir: string, port: number, sluiceConf: string): string {
  const settings = sluiceConf.match(/^ {4}ssl_(?!certificate|client_hello)[^{}]*?;$/gm) ?? [];
  return frame(
    dir,
    `${settings.join("\n")}
  server {
    listen ${port} ssl http2;
    server_name ${host};
    ssl_certificate ${dir}/tls.crt;
    ssl_certificate_key ${dir}/tls.key;
    location / { return 200 "ok"; }
  }`,
  );
}

async function startSluice(certificate: string, key: string): Promise<Controller> {
  const controller = await Controller.create();
  controller.write("all.json", [
    ingressClass,
    configMap({ "worker-processes": "1" }),
    service("app"),
    ...endpointSlices("app", [{ address: "127.42.0.1", port: 80 }]),
    tlsSecret("tls", certificate, key),
    ingress("app", { host, tlsSecret: "tls" }),
  ]);
  await controller.start();
  return controller;
}

/** `count` handshakes of each kind in every round. */
export async function measureHandshakes(rounds: number, count: number): Promise<readonly HandshakeRow[]> {
  const { certificate, key } = selfSigned(host);
  const [plainPort] = (await freePorts(1)) as [number];
  const controller = await startSluice(certificate, key);
  const plain = await startNginx(plainPort, (dir) => {
    writeFileSync(join(dir, "tls.crt"), certificate);
    writeFileSync(join(dir, "tls.key"), key);
    return plainText(dir, plainPort, readFileSync(join(controller.runtimeDir, "private/nginx.conf"), "utf8"));
  });
  try {
    const [worker] = workersOf((await controller.state()).nginxPid);
    const targets = { plain, sluice: { port: controller.ports.https, worker: worker! } };
    const rows: HandshakeRow[] = [];
    for (const kind of kinds) {
      // shorter ones are measured in greater numbers: the same noise is a greater part of them
      const each = ((kind.resumed ? 3 : 1) * count) / pairs;
      const times = { plain: [] as number[], sluice: [] as number[] };
      for (const target of Object.values(targets)) await measure(target, kind, certificate, count / 4);
      for (let pair = 0; pair < rounds * pairs; pair++) {
        const order = pair % 2 === 0 ? (["plain", "sluice"] as const) : (["sluice", "plain"] as const);
        for (const name of order) times[name].push(await measure(targets[name], kind, certificate, each));
      }
      rows.push({
        kind: kind.name,
        plainPerSecond: 1e9 / median(times.plain),
        sluicePerSecond: 1e9 / median(times.sluice),
        ratio: median(times.plain.map((time, pair) => time / times.sluice[pair]!)),
      });
    }
    return rows;
  } finally {
    await end(plain.process);
    await controller.stop();
  }
}
