/** Every command-line flag: name, type, default, its sentence of documentation, and why it has no effect if so. */

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
    readonly doc: string;
    /** Accepted, but without an effect: why. The log says so when it is given. */
    readonly idle?: string;
    /** Inclusive limits of a number. */
    readonly range?: readonly [number, number];
  };
}[FlagType];

const ports = [1, 65535] as const;

export const flagRows = {
  "annotations-prefix": {
    type: "string",
    value: "nginx.ingress.kubernetes.io",
    doc: "Prefix of the annotations that are read.",
  },
  "apiserver-host": {
    type: "string",
    value: "",
    doc: "URL of the Kubernetes API server; empty: kubeconfig or service account.",
  },
  "certificate-authority": { type: "string", value: "", doc: "CA file for the API server named by --apiserver-host." },
  kubeconfig: { type: "string", value: "", doc: "Kubeconfig file." },
  manifests: { type: "string", value: "", doc: "Folder of YAML and JSON manifests to serve instead of a cluster." },
  configmap: { type: "string", value: "", doc: "namespace/name of the ConfigMap with global settings." },
  "tcp-services-configmap": { type: "string", value: "", doc: "namespace/name of the ConfigMap with TCP services." },
  "udp-services-configmap": { type: "string", value: "", doc: "namespace/name of the ConfigMap with UDP services." },
  "default-backend-service": { type: "string", value: "", doc: "namespace/name of the Service for unmatched requests." },
  "default-ssl-certificate": {
    type: "string",
    value: "",
    doc: "namespace/name of the Secret with the certificate of last resort.",
  },
  "ingress-class": {
    type: "string",
    value: "nginx",
    doc: "Value of the annotation kubernetes.io/ingress.class that is ours.",
  },
  "controller-class": {
    type: "string",
    value: "k8s.io/ingress-nginx",
    doc: "spec.controller of the IngressClasses that are ours.",
  },
  "ingress-class-by-name": {
    type: "bool",
    value: false,
    doc: "Also serve the IngressClass named as --ingress-class, whatever its controller.",
  },
  "watch-ingress-without-class": { type: "bool", value: false, doc: "Also serve Ingresses that name no class." },
  "watch-namespace": { type: "string", value: "", doc: "The one namespace to watch; empty: all." },
  "watch-namespace-selector": { type: "string", value: "", doc: "Label selector of the namespaces to serve." },
  "disable-catch-all": { type: "bool", value: false, doc: "Ignore Ingresses that have spec.defaultBackend." },
  "disable-svc-external-name": { type: "bool", value: false, doc: "Give Services of type ExternalName no endpoints." },
  "enable-topology-aware-routing": {
    type: "bool",
    value: false,
    doc: "Of Services that ask for it, use the endpoints hinted for the zone of the own node ($NODE_NAME, else that of the pod $POD_NAME).",
  },
  "publish-service": {
    type: "string",
    value: "",
    doc: "namespace/name of the Service whose address goes into Ingress status.",
  },
  "publish-status-address": { type: "string", value: "", doc: "Comma list of addresses for Ingress status." },
  "update-status": { type: "bool", value: true, doc: "Write addresses into Ingress status." },
  "update-status-on-shutdown": { type: "bool", value: true, doc: "Clear the status when the last replica stops." },
  "status-update-interval": { type: "int", value: 60, doc: "Seconds between status rounds; at least 5." },
  "report-node-internal-ip-address": { type: "bool", value: false, doc: "Use the node's InternalIP for status." },
  "disable-leader-election": { type: "bool", value: false, doc: "Hold no lease; no status is written then." },
  "election-id": { type: "string", value: "ingress-controller-leader", doc: "Name of the lease." },
  "election-ttl": { type: "duration", value: 30_000, doc: "How long the lease holds." },
  "sync-period": {
    type: "duration",
    value: 0,
    doc: "Time after which the cluster's objects are listed anew, which puts right what a watch lost; 0: never.",
  },
  "sync-rate-limit": { type: "float", value: 0.3, doc: "Reloads of nginx per second; other changes are not limited." },
  "dynamic-configuration-retries": {
    type: "int",
    value: 15,
    doc: "Retries of the data plane's configuration.",
    idle: "it is tried until it succeeds",
  },
  "disable-sync-events": { type: "bool", value: false, doc: "Record no Events about synchronisation." },
  "shutdown-grace-period": {
    type: "int",
    value: 0,
    range: [0, 86_400],
    doc: "Seconds between the stop signal and the stop of nginx.",
  },
  "post-shutdown-grace-period": {
    type: "int",
    value: 10,
    range: [0, 86_400],
    doc: "Seconds between the end of nginx and the end of the controller.",
  },
  "http-port": { type: "int", value: 80, range: ports, doc: "Port for HTTP." },
  "https-port": { type: "int", value: 443, range: ports, doc: "Port for HTTPS." },
  "ssl-passthrough-proxy-port": { type: "int", value: 442, range: ports, doc: "Port of nginx behind the TLS passthrough." },
  "default-server-port": { type: "int", value: 8181, range: ports, doc: "Port of the built-in 404 server." },
  "status-port": { type: "int", value: 10246, range: ports, doc: "Port of nginx's status server on 127.0.0.1." },
  "stream-port": {
    type: "int",
    value: 10247,
    range: ports,
    doc: "UDP port, on an address of the loopback, where nginx asks its own script for endpoints of TCP and UDP services.",
  },
  "healthz-port": { type: "int", value: 10254, range: ports, doc: "Port for health and metrics." },
  "healthz-host": { type: "string", value: "", doc: "Address for health and metrics; empty: all." },
  "health-check-path": { type: "string", value: "/healthz", doc: "Path of the health check, here and in nginx." },
  "health-check-timeout": {
    type: "int",
    value: 10,
    doc: "Seconds for the health check.",
    idle: "it never had one",
  },
  profiling: {
    type: "bool",
    value: true,
    doc: "Offer profiles of the controller at /debug/pprof/ (V8's formats, not those of Go).",
  },
  "profiler-port": {
    type: "int",
    value: 10245,
    range: ports,
    doc: "Port of the profiler.",
  },
  "profiler-address": {
    type: "string",
    value: "127.0.0.1",
    doc: "Address of the profiler; empty: all.",
  },
  "internal-logger-address": {
    type: "string",
    value: "127.0.0.1:11514",
    doc: "Address of the syslog receiver of the chroot image.",
    idle: "there is no such image: nginx writes to the files of --log-dir",
  },
  "enable-ssl-passthrough": { type: "bool", value: false, doc: "Honour the annotation ssl-passthrough." },
  "enable-ssl-chain-completion": {
    type: "bool",
    value: false,
    doc: "Fetch missing intermediate certificates.",
    idle: "a configuration does not depend on other servers: put the whole chain into the Secret",
  },
  "enable-annotation-validation": { type: "bool", value: true, doc: "Check annotation values against their grammar." },
  "deep-inspect": { type: "bool", value: true, doc: "Refuse Ingresses with dangerous text in host, path or TLS fields." },
  "validating-webhook": { type: "string", value: "", doc: "[host]:port of the admission webhook; empty: off." },
  "validating-webhook-certificate": { type: "string", value: "", doc: "PEM certificate of the webhook." },
  "validating-webhook-key": { type: "string", value: "", doc: "PEM key of the webhook." },
  "disable-full-test": { type: "bool", value: false, doc: "Test only the Ingress under admission; here it always is so." },
  "enable-metrics": { type: "bool", value: false, doc: "Collect metrics of nginx and of the controller." },
  "metrics-per-host": { type: "bool", value: true, doc: "Label request metrics with the host." },
  "metrics-per-undefined-host": { type: "bool", value: false, doc: "Count requests to unknown hosts by host, too." },
  "report-status-classes": { type: "bool", value: false, doc: "Label request metrics with 2xx, 3xx… instead of the status." },
  "exclude-socket-metrics": { type: "strings", value: [], doc: "Request metrics to leave out." },
  "monitor-max-batch-size": {
    type: "int",
    value: 10_000,
    doc: "Records of requests per batch.",
    idle: "requests are counted in nginx, none is dropped",
  },
  "time-buckets": {
    type: "floats",
    value: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    doc: "Histogram buckets of durations, seconds.",
  },
  "length-buckets": {
    type: "floats",
    value: [10, 20, 30, 40, 50, 60, 70, 80, 90, 100],
    doc: "Histogram buckets of request and response lengths, bytes.",
  },
  "size-buckets": {
    type: "floats",
    value: [10, 100, 1000, 10_000, 100_000, 1e6, 1e7],
    doc: "Histogram buckets of bytes sent.",
  },
  "bucket-factor": {
    type: "float",
    value: 0,
    doc: "Growth factor of native histograms.",
    idle: "the text format of /metrics has none",
  },
  "max-buckets": {
    type: "int",
    value: 100,
    range: [0, 4_294_967_295],
    doc: "Most buckets of a native histogram.",
    idle: "the text format of /metrics has none",
  },
  "maxmind-mirror": {
    type: "string",
    value: "",
    doc: "URL below which EDITION.tar.gz is fetched at the start, instead of from MaxMind.",
  },
  "maxmind-license-key": {
    type: "string",
    value: "",
    doc: "Licence key with which GeoIP databases are fetched from MaxMind at the start.",
  },
  "maxmind-edition-ids": { type: "string", value: "GeoLite2-City,GeoLite2-ASN", doc: "GeoIP databases to use." },
  "maxmind-retries-count": { type: "int", value: 1, doc: "Tries to fetch a GeoIP database." },
  "maxmind-retries-timeout": { type: "duration", value: 0, doc: "Wait between such tries." },
  "geoip-dir": {
    type: "string",
    value: "/etc/ingress-controller/geoip",
    doc: "Folder of the GeoIP databases, EDITION.mmdb each; watched. Where it cannot be written to, what is fetched goes to geoip/ below --runtime-dir.",
  },
  "runtime-dir": {
    type: "string",
    value: "/tmp/sluice",
    doc: "Folder for nginx.conf, sockets, pid and temporary files.",
  },
  "log-dir": { type: "string", value: "/var/log/nginx", doc: "Folder of access.log and error.log." },
  "nginx-binary": {
    type: "string",
    value: "",
    doc: "nginx or openresty; default: $NGINX_BINARY, else the PATH, else the usual places.",
  },
  "nginx-modules": {
    type: "strings",
    value: [],
    doc: "Folders of nginx's dynamic modules; default: $NGINX_MODULES, else the usual places.",
  },
  nameservers: { type: "strings", value: [], doc: "Name servers as ip or ip:port; default: those of /etc/resolv.conf." },
  version: { type: "bool", value: false, doc: "Print the version and end." },
  help: { type: "bool", value: false, doc: "Print the flags and end." },
  v: { type: "int", value: 0, doc: "Verbosity of the log." },
} as const satisfies Readonly<Record<string, FlagRow>>;

/** Flags of the Go logging library, with an underscore in their names. */
export const klogRows = {
  logtostderr: { type: "bool", value: true, doc: "Log to stderr and not to a file." },
  alsologtostderr: { type: "bool", value: false, doc: "With --logtostderr=false: to stderr as well as to the file." },
  stderrthreshold: {
    type: "string",
    value: "2",
    doc: "With --logtostderr=false: lines of at least this severity go to stderr, too (INFO 0, WARNING 1, ERROR 2, FATAL 3).",
  },
  log_file: { type: "string", value: "", doc: "With --logtostderr=false: the file to log to." },
  log_file_max_size: { type: "int", value: 1800, doc: "Megabytes after which the file is begun anew; 0: never." },
  skip_headers: { type: "bool", value: false, doc: "Begin lines with the message: no severity, time and process." },
  vmodule: {
    type: "string",
    value: "",
    doc: "Comma list of NAME=VERBOSITY; the name is the one before ] in a line, with * and ? as wildcards.",
  },
  log_dir: { type: "string", value: "", doc: "Folder with a file for each severity.", idle: "--log_file names the one file" },
  one_output: { type: "bool", value: false, doc: "Each line in the file of its severity only.", idle: "there is one file" },
  add_dir_header: { type: "bool", value: false, doc: "Folder of the source file in each line.", idle: "lines name a part, not a file" },
  log_backtrace_at: { type: "string", value: "", doc: "Stack trace at this source line.", idle: "lines name a part, not a file" },
  skip_log_headers: { type: "bool", value: false, doc: "No header at the beginning of a file.", idle: "there is none" },
} as const satisfies Readonly<Record<string, FlagRow>>;

/** Single letters: -v=5, -v 5, -v5, -h. */
export const shorthands: Readonly<Record<string, string>> = { v: "v", h: "help" };
