/** ConfigMap keys: nginx's processes and tables. */

import { bool, int, listOf, pattern, time } from "../../catalog/kinds.ts";
import { setting } from "../../catalog/settings.ts";
import { address, dictionaryList, onOff } from "../setting-kinds.ts";

export const processSettings = {
  "enable-aio-write": setting({
    kind: bool,
    default: true,
    directive: { context: "http", name: "aio_write", args: onOff },
    doc: "nginx aio_write.",
  }),
  "enable-serial-reloads": setting({
    kind: bool,
    default: false,
    doc: "Do not reload while workers of an earlier nginx.conf are still at work; what needs no reload is applied meanwhile. Bad value: false.",
  }),
  "lua-shared-dicts": setting({
    kind: dictionaryList,
    default: {} as Readonly<Record<string, number>>,
    applies: "reload",
    doc: "Overrides/adds dictionaries. Without unit = MB. Max 204800k each, max 100 entries; bad items logged and skipped. luaconfig 5m and stream tcp_udp_configuration_data 5M are fixed. Body limit of /configuration = max(configuration_data, certificate_data)+1M.",
  }),
  "map-hash-bucket-size": setting({
    kind: int(32),
    default: 64,
    directive: { context: "http", name: "map_hash_bucket_size", args: (v) => [String(v)] },
    doc: "nginx map_hash_bucket_size.",
  }),
  "max-worker-connections": setting({
    kind: int(0),
    default: 16384,
    applies: "reload",
    doc: "0 means 3/4 of the worker open-files limit.",
  }),
  "max-worker-open-files": setting({
    kind: int(0),
    default: 0,
    applies: "reload",
    doc: "0 means hard RLIMIT_NOFILE minus 1024, at least 1024.",
  }),
  Resolver: setting({
    kind: listOf(address),
    default: [] as readonly string[],
    support: "none",
    note: "Never did anything in the retired controller either.",
    doc: "Decodable in theory, always overwritten by the node nameservers (valid=30s).",
  }),
  "server-name-hash-bucket-size": setting({
    kind: int(0),
    default: 0,
    directive: { context: "http", name: "server_names_hash_bucket_size", args: (v) => (v > 0 ? [String(v)] : undefined) },
    doc: "Raised automatically to nextPow2(16 + align8(longest name + 2)).",
  }),
  "server-name-hash-max-size": setting({
    kind: int(64),
    default: 1024,
    directive: { context: "http", name: "server_names_hash_max_size", args: (v) => [String(v)] },
    doc: "Raised automatically to the next power of two of the total host name bytes.",
  }),
  "variables-hash-bucket-size": setting({
    kind: int(32),
    default: 256,
    directive: { context: "http", name: "variables_hash_bucket_size", args: (v) => [String(v)] },
    doc: "nginx variables_hash_bucket_size.",
  }),
  "variables-hash-max-size": setting({
    kind: int(64),
    default: 2048,
    directive: { context: "http", name: "variables_hash_max_size", args: (v) => [String(v)] },
    doc: "nginx variables_hash_max_size.",
  }),
  "worker-cpu-affinity": setting({
    kind: pattern("CPU masks", /^(auto( [01]+)?|[01 ]*)$/, "auto", "all"),
    default: "",
    directive: { context: "main", name: "worker_cpu_affinity", args: (v) => (v === "" ? undefined : v.split(/ +/)) },
    doc: "nginx worker_cpu_affinity.",
  }),
  "worker-processes": setting({
    kind: pattern("number or auto", /^(auto|[1-9]\d{0,3})$/, "2", "-1"),
    default: "auto",
    applies: "reload",
    doc: "Any other text used as is.",
  }),
  "worker-shutdown-timeout": setting({
    kind: time,
    default: "240s",
    directive: { context: "main", name: "worker_shutdown_timeout", args: (v) => [v] },
    doc: "Graceful end of old workers after reload.",
  }),
} as const;
