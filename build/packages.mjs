// The Debian packages that Sluice runs on, each with its reason and with the file that tells that it is there.
// A file may hold one "*" as a whole path segment; any of the files is enough.

/**
 * @typedef {object} Package
 * @property {string} name
 * @property {string} why
 * @property {readonly string[]} files
 * @property {"run" | "test" | "image"} needed  run: for npm start and npm test; test: for npm test and npm run bench only;
 *   image: for npm run image and the suite of that name
 */

/** @type {readonly Package[]} */
export const packages = [
  { name: "nginx", needed: "run", files: ["/usr/sbin/nginx"], why: "the proxy itself" },
  {
    name: "libnginx-mod-http-lua",
    needed: "run",
    files: ["/usr/lib/nginx/modules/ngx_http_lua_module.so"],
    why: "routing and balancing run as Lua inside nginx",
  },
  { name: "libnginx-mod-stream", needed: "run", files: ["/usr/lib/nginx/modules/ngx_stream_module.so"], why: "TCP and UDP services" },
  {
    name: "libnginx-mod-stream-js",
    needed: "run",
    files: ["/usr/lib/nginx/modules/ngx_stream_js_module.so"],
    why: "endpoints of TCP and UDP services change without a reload",
  },
  {
    name: "libnginx-mod-http-headers-more-filter",
    needed: "run",
    files: ["/usr/lib/nginx/modules/ngx_http_headers_more_filter_module.so"],
    why: "takes the Server header out of every answer",
  },
  {
    name: "libnginx-mod-http-brotli-filter",
    needed: "run",
    files: ["/usr/lib/nginx/modules/ngx_http_brotli_filter_module.so"],
    why: "enable-brotli; loaded only then",
  },
  {
    name: "libnginx-mod-http-brotli-static",
    needed: "run",
    files: ["/usr/lib/nginx/modules/ngx_http_brotli_static_module.so"],
    why: "brotli_static in snippets; loaded only with enable-brotli",
  },
  {
    name: "libnginx-mod-http-geoip2",
    needed: "run",
    files: ["/usr/lib/nginx/modules/ngx_http_geoip2_module.so"],
    why: "use-geoip2; loaded only then",
  },
  {
    name: "libnginx-mod-http-modsecurity",
    needed: "run",
    files: ["/usr/lib/nginx/modules/ngx_http_modsecurity_module.so"],
    why: "enable-modsecurity; loaded only then",
  },
  {
    name: "modsecurity-crs",
    needed: "run",
    files: ["/usr/share/modsecurity-crs/owasp-crs.load"],
    why: "enable-owasp-core-rules and enable-owasp-modsecurity-crs",
  },
  { name: "lua-resty-core", needed: "run", files: ["/usr/share/lua/5.1/resty/core.lua"], why: "the Lua module's own library" },
  { name: "lua-resty-lrucache", needed: "run", files: ["/usr/share/lua/5.1/resty/lrucache.lua"], why: "lua-resty-core needs it" },
  { name: "lua-cjson", needed: "run", files: ["/usr/lib/*/lua/5.1/cjson.so"], why: "JSON inside nginx" },
  { name: "curl", needed: "test", files: ["/usr/bin/curl"], why: "the smoke test runs the lines that npm start prints" },
  { name: "openssl", needed: "run", files: ["/usr/bin/openssl"], why: "certificates of the demo, the tests and the cases" },
  { name: "wrk", needed: "test", files: ["/usr/bin/wrk"], why: "load for the benchmark" },
  { name: "nghttp2-client", needed: "test", files: ["/usr/bin/h2load"], why: "HTTP/2 load for the benchmark" },
  { name: "apache2-utils", needed: "test", files: ["/usr/bin/htpasswd"], why: "bcrypt password files of the basic-auth cases" },
  { name: "debootstrap", needed: "image", files: ["/usr/sbin/debootstrap"], why: "the base of the image" },
  { name: "buildah", needed: "image", files: ["/usr/bin/buildah"], why: "builds the Dockerfile" },
  { name: "podman", needed: "image", files: ["/usr/bin/podman"], why: "runs the image" },
  { name: "runc", needed: "image", files: ["/usr/sbin/runc", "/usr/bin/runc"], why: "runs the image" },
  { name: "iproute2", needed: "image", files: ["/sbin/ip", "/usr/bin/ip"], why: "the network in which the image runs" },
];
