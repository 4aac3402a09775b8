/**
 * Parts of nginx.conf that an Ingress would bring → those that nginx may be asked about before they are stored. Whoever
 * reaches the webhook's port chooses this text, and `nginx -t` opens logs and sockets, reads files, resolves names and
 * loads engines. So nothing is shown to it but statements that are known to do none of this.
 */

import { edited } from "../apply/snippet-lines.ts";
import { allStatements, readNginxText, type Statement, statementsOf } from "../catalog/nginx-text.ts";
import type { Directive, Profile } from "../plan/conf-view.ts";
import { printDirective } from "../plan/directive.ts";
import type { ConfParts } from "../plan/plan.ts";

/** With any arguments these touch nothing outside nginx's memory while a conf is tested. */
const harmless = new Set(
  `absolute_redirect access_log add_header add_trailer aio_write alias allow auth_basic auth_basic_user_file auth_delay auth_request
  auth_request_set autoindex autoindex_exact_size autoindex_format autoindex_localtime break brotli brotli_buffers brotli_comp_level
  brotli_min_length brotli_types brotli_window charset charset_types chunked_transfer_encoding client_body_buffer_size
  client_body_in_file_only client_body_in_single_buffer client_body_timeout client_max_body_size default_type deny empty_gif
  error_page etag expires gunzip gunzip_buffers gzip gzip_buffers gzip_comp_level gzip_disable gzip_http_version gzip_min_length
  gzip_proxied gzip_static gzip_types gzip_vary hash if if_modified_since ignore_invalid_headers index internal ip_hash keepalive
  keepalive_disable keepalive_requests keepalive_time keepalive_timeout least_conn limit_conn limit_conn_dry_run
  limit_conn_log_level limit_conn_status limit_except limit_rate limit_rate_after limit_req limit_req_dry_run limit_req_log_level
  limit_req_status lingering_close lingering_time lingering_timeout listen location log_not_found log_subrequest max_ranges
  merge_slashes mirror mirror_request_body modsecurity more_clear_headers more_clear_input_headers more_set_headers
  more_set_input_headers msie_padding msie_refresh output_buffers override_charset port_in_redirect postpone_output preread_timeout
  proxy_buffering proxy_buffers proxy_cache proxy_cache_background_update proxy_cache_bypass proxy_cache_convert_head
  proxy_cache_key proxy_cache_lock proxy_cache_lock_age proxy_cache_lock_timeout proxy_cache_max_range_offset proxy_cache_methods
  proxy_cache_min_uses proxy_cache_revalidate proxy_cache_use_stale proxy_cache_valid proxy_cookie_domain proxy_cookie_flags
  proxy_cookie_path proxy_download_rate proxy_force_ranges proxy_half_close proxy_hide_header proxy_http_version
  proxy_ignore_client_abort proxy_ignore_headers proxy_intercept_errors proxy_limit_rate proxy_method proxy_no_cache
  proxy_pass_header proxy_pass_request_body proxy_pass_request_headers proxy_protocol proxy_protocol_timeout proxy_redirect
  proxy_request_buffering proxy_requests proxy_responses proxy_set_body proxy_set_header proxy_socket_keepalive proxy_timeout
  proxy_upload_rate random real_ip_header real_ip_recursive recursive_error_pages referer_hash_bucket_size reset_timedout_connection
  resolver_timeout return rewrite rewrite_log root satisfy send_lowat send_timeout sendfile sendfile_max_chunk server_name_in_redirect
  server_tokens set ssi ssl_buffer_size ssl_ciphers ssl_ecdh_curve ssl_prefer_server_ciphers ssl_preread ssl_protocols
  ssl_session_tickets ssl_session_timeout ssl_verify_depth sub_filter sub_filter_last_modified sub_filter_once sub_filter_types
  tcp_nodelay tcp_nopush try_files underscores_in_headers uninitialized_variable_warn valid_referers`.split(/\s+/),
);

/** As above, for the three ways towards backends. */
const harmlessTowards =
  /^(proxy|grpc|fastcgi)_(buffer_size|busy_buffers_size|connect_timeout|hide_header|ignore_headers|intercept_errors|max_temp_file_size|next_upstream(_timeout|_tries)?|pass_header|read_timeout|send_timeout|set_header|param|index|split_path_info|buffering|buffers|socket_keepalive|ssl_(ciphers|name|protocols|server_name|session_reuse|verify|verify_depth)|temp_file_write_size)$/;

const address = /^(\d{1,3}(\.\d{1,3}){3}|\[[0-9a-fA-F:.]+\])(:\d{1,5})?$/;
const addressOrNet = /^[0-9a-fA-F.:]+(\/\d{1,3})?$/;

/** A name in these would be resolved, a file opened. */
const careful: Readonly<Record<string, (args: readonly string[], names: ReadonlySet<string>) => boolean>> = {
  access_log: (args) => args[0] === "off",
  modsecurity: (args) => args[0] === "on" || args[0] === "off",
  set_real_ip_from: ([from = ""]) => addressOrNet.test(from),
  resolver: (args) => args.every((a) => address.test(a) || /^[a-z0-9_]+=[a-z0-9]+$/.test(a)),
  proxy_pass: ([to = ""], names) => isReachable(to, names),
  grpc_pass: ([to = ""], names) => isReachable(to, names),
  server: ([at = ""]) => address.test(at),
};

function isReachable(to: string, names: ReadonlySet<string>): boolean {
  const host = to.replace(/^(https?|grpcs?):\/\//, "").replace(/\/.*/s, "");
  return host.includes("$") || address.test(host) || names.has(host);
}

/** The first statement that nginx is not asked about, by name; undefined: there is none. */
function stranger(statements: readonly Statement[], names: ReadonlySet<string>): string | undefined {
  for (const { words, block } of statements) {
    const [name = "", ...args] = words;
    if (name === "map" || name === "split_clients" || name === "types") {
      if ((block ?? []).some((s) => s.words[0] === "include")) return "include";
      continue;
    }
    if (name === "upstream" || (name === "server" && block !== undefined)) {
      if (args.length > 1) return name;
    } else {
      const known = careful[name]?.(args, names) ?? (harmless.has(name) || harmlessTowards.test(name));
      if (!known) return name;
    }
    const inner = stranger(block ?? [], names);
    if (inner !== undefined) return inner;
  }
  return undefined;
}

function isHarmless(text: string): boolean {
  const read = readNginxText(text);
  if (!read.ok) return false;
  const upstreams = new Set(read.statements.flatMap(({ words }) => (words[0] === "upstream" ? [words[1] ?? ""] : [])));
  return stranger(read.statements, upstreams) === undefined;
}

/** Typed values; quoted, so only what the directive itself does with them counts. */
function isPlain({ name, args }: Directive): boolean {
  return (
    (harmless.has(name) || harmlessTowards.test(name)) &&
    careful[name] === undefined &&
    args.every((a) => typeof a !== "object" || !("file" in a))
  );
}

/** Left out: texts that hold anything else, and single directives of profiles. Sockets are opened in `folder` only. */
export function trialParts(parts: ConfParts, folder: string): ConfParts {
  const text = (snippet: string, name: string) => withOwnSockets(snippet, `unix:${folder}/${name}`);
  const servers = [...parts.servers].filter(([, block]) => isHarmless(block.snippet));
  const streams = [...parts.streams].filter(([, snippet]) => isHarmless(snippet));
  const profiles = new Map<string, Profile>();
  for (const [id, { requires, ...profile }] of parts.profiles) {
    if (!(profile.snippets ?? []).every(({ snippet }) => isHarmless(snippet))) continue;
    profiles.set(id, { ...profile, directives: profile.directives.filter(isPlain) });
  }
  return {
    profiles,
    servers: new Map(servers.map(([key, { snippet }], i) => [key, { names: [`candidate-${i}.invalid`], snippet: text(snippet, `h${i}`) }])),
    streams: new Map(streams.map(([key, snippet], i) => [key, text(snippet, `s${i}`)])),
  };
}

/** nginx listens on the addresses that a conf names while it only tests it. */
function withOwnSockets(snippet: string, prefix: string): string {
  const listens = allStatements(statementsOf(snippet)).filter(({ words }) => words[0] === "listen");
  return edited(snippet, listens, ({ words, from }) => {
    const options = words.slice(2).filter((word) => !word.startsWith("ipv6only"));
    return printDirective({ name: "listen", args: [`${prefix}-${from}`, ...options] });
  });
}
