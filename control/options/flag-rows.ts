/** Every command-line flag: name, type, default, whether it has its effect yet, and its sentence of documentation. */

export interface FlagTypes {
  readonly bool: boolean;
  readonly int: number;
  readonly float: number;
  readonly string: string;
  /** Milliseconds; written as in Go: 30s, 1m30s, 0. */
  readonly duration: number;
  /** Comma list. */
  readonly strings: readonly string[];
  /** Comma list of numbers. */
  readonly floats: readonly number[];
}

export type FlagType = keyof FlagTypes;

export type FlagRow = {
  readonly [T in FlagType]: {
    readonly type: T;
    readonly value: FlagTypes[T];
    /** False: accepted, but nothing reads it yet; the log says so when it is given. */
    readonly works: boolean;
    readonly doc: string;
    /** Inclusive limits of a number. */
    readonly range?: readonly [number, number];
  };
}[FlagType];

const ports = [1, 65535] as const;

export const flagRows = {
  "annotations-prefix": {
    type: "string",
    value: "nginx.ingress.kubernetes.io",
    works: true,
    doc: "Prefix of the annotations that are read.",
  },
  "apiserver-host": {
    type: "string",
    value: "",
    works: true,
    doc: "URL of the Kubernetes API server; empty: kubeconfig or service account.",
  },
  "certificate-authority": { type: "string", value: "", works: true, doc: "CA file for the API server named by --apiserver-host." },
  kubeconfig: { type: "string", value: "", works: true, doc: "Kubeconfig file." },
  manifests: { type: "string", value: "", works: true, doc: "Folder of YAML and JSON manifests to serve instead of a cluster." },
  configmap: { type: "string", value: "", works: true, doc: "namespace/name of the ConfigMap with global settings." },
  "tcp-services-configmap": { type: "string", value: "", works: true, doc: "namespace/name of the ConfigMap with TCP services." },
  "udp-services-configmap": { type: "string", value: "", works: true, doc: "namespace/name of the ConfigMap with UDP services." },
  "default-backend-service": { type: "string", value: "", works: true, doc: "namespace/name of the Service for unmatched requests." },
  "default-ssl-certificate": {
    type: "string",
    value: "",
    works: true,
    doc: "namespace/name of the Secret with the certificate of last resort.",
  },
  "ingress-class": {
    type: "string",
    value: "nginx",
    works: true,
    doc: "Value of the annotation kubernetes.io/ingress.class that is ours.",
  },
  "controller-class": {
    type: "string",
    value: "k8s.io/ingress-nginx",
    works: true,
    doc: "spec.controller of the IngressClasses that are ours.",
  },
  "ingress-class-by-name": {
    type: "bool",
    value: false,
    works: true,
    doc: "Also serve the IngressClass named as --ingress-class, whatever its controller.",
  },
  "watch-ingress-without-class": { type: "bool", value: false, works: true, doc: "Also serve Ingresses that name no class." },
  "watch-namespace": { type: "string", value: "", works: true, doc: "The one namespace to watch; empty: all." },
  "watch-namespace-selector": { type: "string", value: "", works: true, doc: "Label selector of the namespaces to serve." },
  "disable-catch-all": { type: "bool", value: false, works: true, doc: "Ignore Ingresses that have spec.defaultBackend." },
  "disable-svc-external-name": { type: "bool", value: false, works: true, doc: "Give Services of type ExternalName no endpoints." },
  "enable-topology-aware-routing": {
    type: "bool",
    value: false,
    works: true,
    doc: "Of Services that ask for it, use the endpoints hinted for the zone of the own node ($NODE_NAME, else that of the pod $POD_NAME).",
  },
  "publish-service": {
    type: "string",
    value: "",
    works: true,
    doc: "namespace/name of the Service whose address goes into Ingress status.",
  },
  "publish-status-address": { type: "string", value: "", works: true, doc: "Comma list of addresses for Ingress status." },
  "update-status": { type: "bool", value: true, works: true, doc: "Write addresses into Ingress status." },
  "update-status-on-shutdown": { type: "bool", value: true, works: true, doc: "Clear the status when the last replica stops." },
  "status-update-interval": { type: "int", value: 60, works: true, doc: "Seconds between status rounds; at least 5." },
  "report-node-internal-ip-address": { type: "bool", value: false, works: true, doc: "Use the node's InternalIP for status." },
  "disable-leader-election": { type: "bool", value: false, works: true, doc: "Hold no lease; no status is written then." },
  "election-id": { type: "string", value: "ingress-controller-leader", works: true, doc: "Name of the lease." },
  "election-ttl": { type: "duration", value: 30_000, works: true, doc: "How long the lease holds." },
  "sync-period": {
    type: "duration",
    value: 0,
    works: true,
    doc: "Time after which the cluster's objects are listed anew, which puts right what a watch lost; 0: never.",
  },
  "sync-rate-limit": { type: "float", value: 0.3, works: true, doc: "Reloads of nginx per second; other changes are not limited." },
  "dynamic-configuration-retries": {
    type: "int",
    value: 15,
    works: false,
    doc: "Retries of the data plane's configuration; here it is retried until it succeeds.",
  },
  "disable-sync-events": { type: "bool", value: false, works: true, doc: "Record no Events about synchronisation." },
  "shutdown-grace-period": {
    type: "int",
    value: 0,
    works: true,
    range: [0, 86_400],
    doc: "Seconds between the stop signal and the stop of nginx.",
  },
  "post-shutdown-grace-period": {
    type: "int",
    value: 10,
    works: true,
    range: [0, 86_400],
    doc: "Seconds between the end of nginx and the end of the controller.",
  },
  "http-port": { type: "int", value: 80, works: true, range: ports, doc: "Port for HTTP." },
  "https-port": { type: "int", value: 443, works: true, range: ports, doc: "Port for HTTPS." },
  "ssl-passthrough-proxy-port": { type: "int", value: 442, works: true, range: ports, doc: "Port of nginx behind the TLS passthrough." },
  "default-server-port": { type: "int", value: 8181, works: true, range: ports, doc: "Port of the built-in 404 server." },
  "status-port": { type: "int", value: 10246, works: true, range: ports, doc: "Port of nginx's status server on 127.0.0.1." },
  "stream-port": {
    type: "int",
    value: 10247,
    works: true,
    range: ports,
    doc: "UDP port on 127.0.0.1 where nginx asks its own script for endpoints of TCP and UDP services.",
  },
  "healthz-port": { type: "int", value: 10254, works: true, range: ports, doc: "Port for health and metrics." },
  "healthz-host": { type: "string", value: "", works: true, doc: "Address for health and metrics; empty: all." },
  "health-check-path": { type: "string", value: "/healthz", works: true, doc: "Path of the health check, here and in nginx." },
  "health-check-timeout": { type: "int", value: 10, works: false, doc: "Accepted; never had an effect." },
  profiling: { type: "bool", value: true, works: false, doc: "Offer a profiler." },
  "profiler-port": { type: "int", value: 10245, works: false, range: ports, doc: "Port of the profiler." },
  "profiler-address": { type: "string", value: "127.0.0.1", works: false, doc: "Address of the profiler." },
  "internal-logger-address": {
    type: "string",
    value: "127.0.0.1:11514",
    works: false,
    doc: "Address of the syslog receiver of the chroot image.",
  },
  "enable-ssl-passthrough": { type: "bool", value: false, works: true, doc: "Honour the annotation ssl-passthrough." },
  "enable-ssl-chain-completion": { type: "bool", value: false, works: false, doc: "Fetch missing intermediate certificates." },
  "enable-annotation-validation": { type: "bool", value: true, works: true, doc: "Check annotation values against their grammar." },
  "deep-inspect": { type: "bool", value: true, works: true, doc: "Refuse Ingresses with dangerous text in host, path or TLS fields." },
  "validating-webhook": { type: "string", value: "", works: true, doc: "[host]:port of the admission webhook; empty: off." },
  "validating-webhook-certificate": { type: "string", value: "", works: true, doc: "PEM certificate of the webhook." },
  "validating-webhook-key": { type: "string", value: "", works: true, doc: "PEM key of the webhook." },
  "disable-full-test": { type: "bool", value: false, works: true, doc: "Test only the Ingress under admission; here it always is so." },
  "enable-metrics": { type: "bool", value: false, works: true, doc: "Collect metrics of nginx and of the controller." },
  "metrics-per-host": { type: "bool", value: true, works: true, doc: "Label request metrics with the host." },
  "metrics-per-undefined-host": { type: "bool", value: false, works: true, doc: "Count requests to unknown hosts by host, too." },
  "report-status-classes": { type: "bool", value: false, works: true, doc: "Label request metrics with 2xx, 3xx… instead of the status." },
  "exclude-socket-metrics": { type: "strings", value: [], works: true, doc: "Request metrics to leave out." },
  "monitor-max-batch-size": { type: "int", value: 10_000, works: false, doc: "Accepted; metrics are aggregated here and never dropped." },
  "time-buckets": {
    type: "floats",
    value: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    works: true,
    doc: "Histogram buckets of durations, seconds.",
  },
  "length-buckets": {
    type: "floats",
    value: [10, 20, 30, 40, 50, 60, 70, 80, 90, 100],
    works: true,
    doc: "Histogram buckets of request and response lengths, bytes.",
  },
  "size-buckets": {
    type: "floats",
    value: [10, 100, 1000, 10_000, 100_000, 1e6, 1e7],
    works: true,
    doc: "Histogram buckets of bytes sent.",
  },
  "bucket-factor": {
    type: "float",
    value: 0,
    works: false,
    doc: "Growth factor of native histograms: accepted, the text format of /metrics has none.",
  },
  "max-buckets": { type: "int", value: 100, works: false, range: [0, 4_294_967_295], doc: "Most buckets of a native histogram." },
  "maxmind-mirror": { type: "string", value: "", works: false, doc: "URL to fetch GeoIP databases from." },
  "maxmind-license-key": { type: "string", value: "", works: false, doc: "Licence key for GeoIP databases." },
  "maxmind-edition-ids": { type: "string", value: "GeoLite2-City,GeoLite2-ASN", works: true, doc: "GeoIP databases to use." },
  "maxmind-retries-count": { type: "int", value: 1, works: false, doc: "Tries to fetch a GeoIP database." },
  "maxmind-retries-timeout": { type: "duration", value: 0, works: false, doc: "Wait between such tries." },
  "geoip-dir": {
    type: "string",
    value: "/etc/ingress-controller/geoip",
    works: true,
    doc: "Folder of the GeoIP databases, EDITION.mmdb each.",
  },
  "runtime-dir": {
    type: "string",
    value: "/tmp/sluice",
    works: true,
    doc: "Folder for nginx.conf, sockets, pid and temporary files.",
  },
  "log-dir": { type: "string", value: "/var/log/nginx", works: true, doc: "Folder of access.log and error.log." },
  "nginx-binary": {
    type: "string",
    value: "",
    works: true,
    doc: "nginx or openresty; default: $NGINX_BINARY, else the PATH, else the usual places.",
  },
  "nginx-modules": {
    type: "strings",
    value: [],
    works: true,
    doc: "Folders of nginx's dynamic modules; default: $NGINX_MODULES, else the usual places.",
  },
  nameservers: { type: "strings", value: [], works: true, doc: "Name servers as ip or ip:port; default: those of /etc/resolv.conf." },
  version: { type: "bool", value: false, works: true, doc: "Print the version and end." },
  help: { type: "bool", value: false, works: true, doc: "Print the flags and end." },
  v: { type: "int", value: 0, works: true, doc: "Verbosity of the log." },
} as const satisfies Readonly<Record<string, FlagRow>>;

/** Flags of the Go logging library: manifests carry them, the log here always goes to stderr. */
export const klogRows: Readonly<Record<string, FlagRow>> = {
  add_dir_header: { type: "bool", value: false, works: false, doc: "" },
  alsologtostderr: { type: "bool", value: false, works: false, doc: "" },
  log_backtrace_at: { type: "string", value: "", works: false, doc: "" },
  log_dir: { type: "string", value: "", works: false, doc: "" },
  log_file: { type: "string", value: "", works: false, doc: "" },
  log_file_max_size: { type: "int", value: 1800, works: false, doc: "" },
  logtostderr: { type: "bool", value: true, works: true, doc: "" },
  one_output: { type: "bool", value: false, works: false, doc: "" },
  skip_headers: { type: "bool", value: false, works: false, doc: "" },
  skip_log_headers: { type: "bool", value: false, works: false, doc: "" },
  stderrthreshold: { type: "string", value: "2", works: true, doc: "" },
  vmodule: { type: "string", value: "", works: false, doc: "" },
};

/** Single letters: -v=5, -v 5, -v5, -h. */
export const shorthands: Readonly<Record<string, string>> = { v: "v", h: "help" };
