/** Values with which the chart must make sense. */

import type { Variant } from "./render.ts";

const rule = { alert: "Down", expr: "up == 0", for: "1m" };

function variant(name: string, values: Variant["values"], fails?: string): Variant {
  return { name, release: "r", namespace: "edge", values, ...(fails === undefined ? {} : { fails }) };
}

export const variants: readonly Variant[] = [
  variant("defaults", {}),
  { name: "release-named-ingress-nginx", release: "ingress-nginx", namespace: "ingress-nginx", values: {} },
  variant("names", { fullnameOverride: "edge", namespaceOverride: "other", commonLabels: { team: "net" }, controller: { name: "main" } }),
  variant("daemonset-on-the-host", {
    controller: {
      kind: "DaemonSet",
      hostNetwork: true,
      hostPort: { enabled: true },
      dnsPolicy: "ClusterFirstWithHostNet",
      reportNodeInternalIp: true,
      publishService: { enabled: false },
      service: { enabled: false },
      updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 1 } },
    },
  }),
  variant("services", {
    controller: {
      service: {
        type: "NodePort",
        externalTrafficPolicy: "Local",
        annotations: { a: "b" },
        nodePorts: { http: 32080, https: 32443, tcp: { 9000: 32900 } },
        internal: {
          enabled: true,
          annotations: { "lb/internal": "true" },
          type: "LoadBalancer",
          ports: { http: 8080 },
          loadBalancerSourceRanges: ["10.0.0.0/8"],
        },
      },
    },
    tcp: { 9000: "default/db:5432" },
    udp: { 53: "kube-system/kube-dns:53" },
    portNamePrefix: "x",
  }),
  variant("internal-service-only", {
    controller: { service: { external: { enabled: false }, internal: { enabled: true, annotations: { "lb/internal": "true" } } } },
  }),
  variant("metrics-and-scaling", {
    controller: {
      metrics: {
        enabled: true,
        serviceMonitor: { enabled: true, additionalLabels: { release: "prometheus" }, sampleLimit: 100_000 },
        prometheusRule: { enabled: true, rules: [rule] },
      },
      autoscaling: { enabled: true, minReplicas: 2, behavior: { scaleDown: { stabilizationWindowSeconds: 300 } } },
      networkPolicy: { enabled: true },
      resources: { limits: { memory: "1Gi" }, requests: { cpu: "100m", memory: "90Mi" } },
    },
  }),
  variant("keda", {
    controller: {
      image: { runAsUser: 1_000_660_000, runAsGroup: 1_000_660_000 },
      keda: { enabled: true, minReplicas: 3, triggers: [{ type: "cpu", metadata: { value: "60" } }] },
    },
  }),
  variant("default-backend", {
    defaultBackend: { enabled: true, replicaCount: 2, networkPolicy: { enabled: true }, extraArgs: { verbose: "" } },
    controller: { replicaCount: 3, maxUnavailable: 1 },
  }),
  variant("default-backend-scaled", { defaultBackend: { enabled: true, autoscaling: { enabled: true, minReplicas: 2 } } }),
  variant("one-namespace", { controller: { scope: { enabled: true, namespace: "shop" } } }),
  variant("one-namespace-without-cluster-role", { rbac: { scope: true }, controller: { scope: { enabled: true } } }),
  variant("cluster-role-refused", { rbac: { scope: true } }, "controller.scope.enabled"),
  variant("namespace-selector", { controller: { scope: { namespaceSelector: "edge=yes" } } }),
  variant("no-webhook", { controller: { admissionWebhooks: { enabled: false }, sysctls: { "net.ipv4.ip_unprivileged_port_start": "0" } } }),
  variant("cert-manager", {
    controller: { admissionWebhooks: { certManager: { enabled: true }, failurePolicy: "Ignore", timeoutSeconds: 5 } },
  }),
  variant("foreign-certgen", {
    controller: {
      admissionWebhooks: {
        certificate: "/usr/local/certificates/tls.crt",
        key: "/usr/local/certificates/tls.key",
        port: 9443,
        patch: { image: { repository: "registry.test/certgen", tag: "1" }, networkPolicy: { enabled: true } },
      },
    },
  }),
  variant("everything-extra", {
    global: { image: { registry: "mirror.test" } },
    dhParam: "QUJD",
    imagePullSecrets: [{ name: "pull" }],
    controller: {
      addHeaders: { "X-A": "1" },
      proxySetHeaders: { "X-B": "2" },
      config: {
        "use-gzip": true,
        "worker-processes": 2,
        "upstream-keepalive-requests": 2_000_000,
        "server-name-hash-bucket-size": "{{ 64 }}",
      },
      allowSnippetAnnotations: true,
      enableAnnotationValidations: false,
      watchIngressWithoutClass: true,
      ingressClassByName: true,
      enableTopologyAwareRouting: true,
      electionTTL: "15s",
      healthCheckPath: "/ready",
      ingressClassResource: { default: true, aliases: ["internal"] },
      extraArgs: { "default-ssl-certificate": "edge/wild", "enable-ssl-passthrough": "", "max-buckets": 4_000_000, v: 2 },
      extraEnvs: [{ name: "TZ", value: "UTC" }],
      extraVolumes: [{ name: "work", emptyDir: {} }],
      extraVolumeMounts: [{ name: "work", mountPath: "/tmp" }],
      extraInitContainers: [{ name: "first", image: "busybox" }],
      extraContainers: [{ name: "beside", image: "busybox" }],
      extraModules: [{ name: "otel", image: { registry: "registry.test", image: "otel", tag: "1", distroless: true } }],
      affinity: {
        podAntiAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [
            {
              topologyKey: "kubernetes.io/hostname",
              labelSelector: { matchLabels: { "app.kubernetes.io/instance": "{{ .Release.Name }}" } },
            },
          ],
        },
      },
      topologySpreadConstraints: [
        {
          maxSkew: 1,
          topologyKey: "zone",
          whenUnsatisfiable: "ScheduleAnyway",
          labelSelector: { matchLabels: { "app.kubernetes.io/instance": "{{ .Release.Name }}" } },
        },
      ],
      tolerations: [{ operator: "Exists" }],
      startupProbe: { httpGet: { path: "/healthz", port: 10254 } },
    },
  }),
  variant("no-election-no-account", {
    serviceAccount: { create: false, name: "given" },
    controller: { disableLeaderElection: true, publishService: { pathOverride: "edge/other" } },
  }),
];

/** What deploy/ holds: name of the file → values. */
export const staticVariants: readonly Variant[] = [
  {
    name: "cloud",
    release: "ingress-nginx",
    namespace: "ingress-nginx",
    values: { controller: { service: { externalTrafficPolicy: "Local" } } },
  },
  { name: "baremetal", release: "ingress-nginx", namespace: "ingress-nginx", values: { controller: { service: { type: "NodePort" } } } },
  {
    name: "kind",
    release: "ingress-nginx",
    namespace: "ingress-nginx",
    values: {
      controller: {
        updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 1 } },
        hostPort: { enabled: true },
        terminationGracePeriodSeconds: 0,
        service: { type: "NodePort" },
        watchIngressWithoutClass: true,
        publishService: { enabled: false },
        nodeSelector: { "kubernetes.io/os": "linux", "ingress-ready": "true" },
        tolerations: ["node-role.kubernetes.io/master", "node-role.kubernetes.io/control-plane"].map((key) => ({
          key,
          operator: "Equal",
          effect: "NoSchedule",
        })),
        extraArgs: { "publish-status-address": "localhost" },
      },
    },
  },
];
