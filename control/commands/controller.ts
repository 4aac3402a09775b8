/** The controller: makes every object that has state and joins them. */

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { Apply } from "../apply/apply.ts";
import { DataPlane } from "../apply/dataplane.ts";
import { writeWhole } from "../apply/files.ts";
import { Nginx } from "../apply/nginx.ts";
import { StreamEndpoints } from "../apply/stream-files.ts";
import { parseSelector, type Selector } from "../build/selector.ts";
import { Loop } from "../loop.ts";
import type { Certificate } from "../model/certificate.ts";
import { Private } from "../model/certificate.ts";
import { Objects } from "../objects/objects.ts";
import { namespacedName, type Options, withoutEffect } from "../options/flags.ts";
import { Board } from "../report/board.ts";
import { createMetrics } from "../report/metrics.ts";
import { startHealth } from "../run/health.ts";
import { ping } from "../run/health-report.ts";
import { type Layout, layoutOf, makeFolders, shippedDir, workerUser } from "../run/layout.ts";
import { openLog } from "../run/log-file.ts";
import { findNginx } from "../run/nginx-install.ts";
import { portProblems } from "../run/ports.ts";
import { startProfiler } from "../run/profiler.ts";
import { rateLimit } from "../run/rate.ts";
import { readResolvConf } from "../run/resolv-conf.ts";
import { NameResolver } from "../run/resolver.ts";
import { selfSigned } from "../run/self-signed.ts";
import { kindRows } from "../source/kinds.ts";
import { loadKubeConfig } from "../source/kube-config.ts";
import type { KindName } from "../source/source.ts";
import { version } from "../version.ts";
import { openAdmission } from "./admission.ts";
import { openClusterDuties } from "./cluster.ts";
import { openDatabases } from "./databases.ts";
import { openSource } from "./source.ts";
import { streamScript } from "./stream-script.ts";
import { surroundings } from "./surroundings.ts";
import { openTracing } from "./tracing.ts";
import { watchTraffic } from "./traffic.ts";

/** nginx ends its connections itself after worker-shutdown-timeout; this is for one that hangs. */
const quitMs = 3_600_000;

/** Runs until a signal; resolves with the exit code. Rejects when it cannot start, with a sentence for the user. */
export async function runController(options: Options): Promise<number> {
  const logger = openLog(options.v, options.klog);
  for (const sentence of withoutEffect(options)) logger.logOnce(sentence);
  const selector = namespaceSelector(options);
  const layout = layoutOf(options.runtimeDir);
  makeFolders(layout, options.logDir);
  const install = findNginx(options.nginxBinary, options.nginxModules);
  logger.info("starting", { version, nginx: install.version, binary: install.binary, modules: install.modules });
  const fake = await fakeCertificate(layout);
  const resolvConf = { ...readResolvConf(), ...(options.nameservers.length > 0 ? { nameservers: options.nameservers } : {}) };
  const user = workerUser(layout);
  const shipped = shippedDir();

  const configMap = { kind: "ConfigMap", ...(namespacedName(options.configmap) ?? { namespace: "", name: "" }) };
  const nginx = new Nginx({
    binary: install.binary,
    runtimeDir: layout.runtimeDir,
    confFile: layout.confFile,
    pidFile: layout.pidFile,
    sockets: [layout.socket, layout.passthroughSocket],
    logger,
    onDeath: () => {
      apply.forget();
      loop.again();
    },
  });
  const script = await streamScript({ options, layout, install, shipped, running: nginx.orphans().length > 0, logger });
  const apply = new Apply({
    nginx,
    dataPlane: new DataPlane(layout.socket),
    confFile: layout.confFile,
    templateDir: join(shipped, "nginx"),
    trialDir: layout.trialDir,
    around: surroundings({
      options,
      layout,
      install,
      user,
      luaDir: join(shipped, "lua"),
      nameservers: resolvConf.nameservers,
      streamScript: script,
    }),
    configMap,
    logger,
    streamEndpoints: new StreamEndpoints(layout.streamsDir),
    reloads: rateLimit(options.syncRateLimit),
    onReload: (problem) => duties?.reloaded(problem),
  });
  if (!nginx.running && nginx.orphans().length === 0) await refuseBusyPorts(options);

  const objects = new Objects();
  const board = new Board(logger);
  const currentOptions = buildOptions(options, selector, fake);
  const names = new NameResolver({ conf: resolvConf, logger, onChange: (changed) => loop.namesChanged(changed) });
  const loop: Loop = new Loop({
    objects,
    apply,
    board,
    logger,
    names,
    general: {
      httpsPort: options.httpsPort,
      healthPath: options.healthCheckPath,
      passthrough: options.enableSslPassthrough && install.features.stream,
      spanSocket: layout.spanSocket,
    },
    liveStreams: script !== undefined,
    buildOptions: currentOptions,
    onBuilt: (built) => {
      duties?.built();
      watch?.built(built);
      tracing.built(built);
      admission?.built(built);
    },
  });

  const tracing = await openTracing({ layout, user, configMap, version, board, logger });
  const watch = await watchTraffic(options, layout, user, logger);
  const config = options.manifests === "" ? loadKubeConfig(options) : undefined;
  const source = openSource(options, config, logger);
  const duties =
    config === undefined
      ? undefined
      : await openClusterDuties({ options, config, objects, loop: () => loop, board, buildOptions: currentOptions, logger });
  let stopping = false;
  let admission: Awaited<ReturnType<typeof openAdmission>>;
  const health = await startHealth({
    host: options.healthzHost,
    port: options.healthzPort,
    path: options.healthCheckPath,
    logger,
    checks: [ping, { name: "nginx-ingress-controller", run: () => checkNginx(options, nginx, stopping) }],
    metrics: createMetrics({
      namespace: process.env.POD_NAMESPACE ?? "",
      pod: process.env.POD_NAME ?? "",
      controllerClass: options.controllerClass,
      version,
      enabled: options.enableMetrics,
      state: () => apply.state(),
      statusPort: options.statusPort,
      syncs: () => loop.status,
      model: () => loop.built,
      leadership: () => (duties?.leader === undefined ? undefined : { name: options.electionId, leads: duties.leader.leading }),
      admission: () => admission?.counts,
      traffic: watch?.traffic,
    }),
    findings: () => board.all(),
    state: () => ({
      ...loop.status,
      ...apply.state(),
      objects: objects.counts(),
      source: source.describe(),
      nginxVersion: install.version,
      // how TCP and UDP services learn of endpoints
      streamEndpoints: script === undefined ? "reload" : "live",
    }),
    scopeOf: (kind) => (Object.hasOwn(kindRows, kind) ? (kindRows[kind as KindName].namespaced ? "namespaced" : "cluster") : undefined),
    waitApplied: (request, timeout) =>
      loop.waitApplied(
        [
          ...request.objects.map(({ resourceVersion, ...ref }) => ({ ref, version: resourceVersion })),
          ...request.gone.map((ref) => ({ ref, version: undefined })),
        ],
        timeout,
      ),
  });
  const profiler = options.profiling
    ? await startProfiler({ host: options.profilerAddress, port: options.profilerPort, logger: logger.named("profiler") })
    : undefined;
  admission = await openAdmission({ options, objects, trial: apply.trial, buildOptions: currentOptions, logger });
  duties?.start();
  const closeDatabases = openDatabases({
    ...{ options, layout, configMap, board, logger },
    changed: () => {
      apply.renew();
      loop.again();
    },
  });
  const sink = admission?.sink(loop) ?? loop;
  source.start(duties?.sink(sink) ?? sink);

  const name = await nextSignal();
  stopping = true;
  logger.info("stopping", { signal: name });
  await pause(options.shutdownGracePeriod * 1000);
  loop.stop();
  await admission?.stop();
  await duties?.stop();
  await source.stop();
  names.stop();
  closeDatabases();
  await nginx.quit(quitMs);
  await pause(options.postShutdownGracePeriod * 1000);
  await health.stop();
  await profiler?.stop();
  await watch?.stop();
  await tracing.stop();
  return 0;
}

function namespaceSelector(options: Options): Selector | undefined {
  if (options.watchNamespaceSelector === "") return undefined;
  if (options.watchNamespace !== "") throw new Error("flags --watch-namespace and --watch-namespace-selector exclude each other");
  const parsed = parseSelector(options.watchNamespaceSelector);
  if ("error" in parsed) throw new Error(`flag --watch-namespace-selector: ${parsed.error}`);
  return parsed;
}

function buildOptions(options: Options, selector: Selector | undefined, fake: Certificate) {
  // One object: parsing is memoised by its identity.
  const annotations = {
    prefix: options.annotationsPrefix,
    validate: options.enableAnnotationValidation,
    deepInspect: options.deepInspect,
  };
  const fixed = {
    ...options,
    annotations,
    watchNamespaceSelector: selector,
    configMap: options.configmap,
    defaultCertificate: options.defaultSslCertificate,
    reservedPorts: new Set([
      options.httpPort,
      options.httpsPort,
      options.defaultServerPort,
      options.statusPort,
      options.streamPort,
      options.healthzPort,
      options.profilerPort,
      options.sslPassthroughProxyPort,
    ]),
    disableExternalName: options.disableSvcExternalName,
    place: options.enableTopologyAwareRouting
      ? { node: process.env.NODE_NAME ?? "", namespace: process.env.POD_NAMESPACE ?? "", pod: process.env.POD_NAME ?? "" }
      : undefined,
    fakeCertificate: fake,
  };
  return () => ({ ...fixed, now: Date.now() });
}

async function fakeCertificate(layout: Layout): Promise<Certificate> {
  if (!existsSync(layout.fakeCertificate) || !existsSync(layout.fakeKey)) {
    const made = await selfSigned();
    writeWhole(layout.fakeKey, made.key);
    writeWhole(layout.fakeCertificate, made.certificate);
  }
  return {
    id: "00000000-0000-0000-0000-000000000000",
    chain: readFileSync(layout.fakeCertificate, "utf8").trim(),
    key: new Private(readFileSync(layout.fakeKey, "utf8").trim()),
    names: ["ingress.local"],
    commonName: "Kubernetes Ingress Controller Fake Certificate",
    notAfter: Number.POSITIVE_INFINITY,
  };
}

async function refuseBusyPorts(options: Options): Promise<void> {
  const problems = await portProblems([
    { flag: "http-port", host: "", port: options.httpPort },
    { flag: "https-port", host: "", port: options.httpsPort },
    { flag: "default-server-port", host: "", port: options.defaultServerPort },
    { flag: "status-port", host: "127.0.0.1", port: options.statusPort },
    ...(options.enableSslPassthrough
      ? [{ flag: "ssl-passthrough-proxy-port", host: "127.0.0.1", port: options.sslPassthroughProxyPort }]
      : []),
  ]);
  if (problems.length > 0) throw new Error(problems.join("; "));
}

async function checkNginx(options: Options, nginx: Nginx, stopping: boolean): Promise<void> {
  if (stopping) throw new Error("the controller is shutting down");
  if (!nginx.running) throw new Error("nginx is not running");
  const answer = await fetch(`http://127.0.0.1:${options.statusPort}/is-dynamic-lb-initialized`, { signal: AbortSignal.timeout(5000) });
  await answer.arrayBuffer();
  if (answer.status !== 200) throw new Error("no configuration has been applied yet");
}

function nextSignal(): Promise<string> {
  return new Promise((resolve) => {
    for (const name of ["SIGTERM", "SIGINT", "SIGQUIT"] as const) process.on(name, () => resolve(name));
    // The terminal that started us may close; the traffic goes on.
    process.on("SIGHUP", () => undefined);
  });
}
