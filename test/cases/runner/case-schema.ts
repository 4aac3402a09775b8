// YAML text → Case. Every key must be known: a misspelt check would otherwise check nothing.
import { parseDocument } from "yaml";
import { type Case, NEEDS } from "./case";
import { anything, type Check, either, flag, list, oneOf, record, SchemaError, shape, tagged, text, whole } from "./schema";

const texts = either(text, list(text));
const matcherTests = shape({ absent: flag, contains: texts, lacks: texts, matches: texts });
const matcher = either(text, whole, flag, oneOf(null), matcherTests);
const matchers = record(matcher);
const version = oneOf("TLSv1", "TLSv1.1", "TLSv1.2", "TLSv1.3");

const range: Check = (value, at) => {
  list(whole)(value, at);
  if ((value as readonly number[]).length !== 2) throw new SchemaError(`${at}: expected [min, max]`);
};

const objectMeta: Check = (value, at) => {
  record(anything)(value, at);
  const { name, namespace } = value as Record<string, unknown>;
  text(name, `${at}.name`);
  if (namespace !== undefined) text(namespace, `${at}.namespace`);
};

const object: Check = (value, at) => {
  record(anything)(value, at);
  const { apiVersion, kind, metadata } = value as Record<string, unknown>;
  text(apiVersion, `${at}.apiVersion`);
  text(kind, `${at}.kind`);
  objectMeta(metadata, `${at}.metadata`);
};

const request = shape(
  {
    url: text,
    method: text,
    headers: record(either(text, list(text))),
    body: either(text, shape({ size: whole }, ["size"])),
    chunked: flag,
    raw: text,
    http_version: oneOf("1.0", "1.1", "2"),
    protocol: oneOf("websocket", "grpc"),
    proxy_protocol: text,
    client_cert: text,
    tls: shape({ min: version, max: version, ciphers: text, sni: either(text, oneOf(null)) }),
    follow: oneOf(false),
  },
  ["url"],
);

const echo = shape({
  service: matcher,
  namespace: matcher,
  pod: matcher,
  method: matcher,
  uri: matcher,
  http_version: matcher,
  headers: matchers,
  body: matcher,
  params: matchers,
  tls: either(oneOf(null), shape({ sni: matcher, client_cn: matcher })),
});

const expectation = shape({
  status: either(whole, list(whole)),
  headers: matchers,
  body: matcherTests,
  echo,
  shares: record(range),
  statuses: record(range),
  same_pod: either(flag, text),
  pods: shape({ min: whole, max: whole, each: range }),
  elapsed_ms: shape({ min: whole, max: whole }),
  tls: shape({ protocol: matcher, subject_cn: matcher, alpn: matcher, cipher: matcher }),
  failed: flag,
});

const step = tagged({
  request: shape({
    request,
    times: whole,
    connection: oneOf("reuse", "fresh"),
    jar: text,
    client_ip: either(text, oneOf(null)),
    parallel: flag,
    expect: expectation,
  }),
  apply: shape({ apply: shape({ objects: list(object), config: record(text) }), refused: flag, message: matcher }),
  delete: shape({ delete: shape({ apiVersion: text, kind: text, name: text, namespace: text }, ["kind", "name"]) }),
  wait: shape({ wait: shape({ ms: whole }, ["ms"]) }),
  scale: shape({ scale: shape({ service: text, pods: whole }, ["service", "pods"]) }),
  saw: shape({
    saw: shape({ service: text, count: range, connections: range, method: matcher, uri: matcher, headers: matchers, body: matcher }, [
      "service",
      "count",
    ]),
  }),
  logs: shape({ logs: shape({ contains: texts, lacks: texts }) }),
  conf: shape({ conf: shape({ contains: texts, lacks: texts }) }),
});

const materials: Readonly<Record<string, Check>> = {
  cert: shape({ generate: text, cn: text, sans: list(text), ca: text, days: whole, key: oneOf("rsa2048", "ec256") }, ["cn"]),
  ca: shape({ generate: text, ca: text }),
  htpasswd: shape({ generate: text, users: record(text), hash: oneOf("apr1", "bcrypt", "sha") }, ["users"]),
  dhparam: shape({ generate: text }),
};

const material: Check = (value, at) => {
  record(anything)(value, at);
  const { generate } = value as Record<string, unknown>;
  oneOf(...Object.keys(materials))(generate, `${at}.generate`);
  materials[generate as string]!(value, at);
};

const document = shape(
  {
    id: text,
    title: text,
    origin: text,
    needs: list(oneOf(...NEEDS)),
    config: record(text),
    flags: list(text),
    files: record(material),
    objects: list(object),
    quirk: flag,
    steps: list(step),
  },
  ["id", "title", "objects", "steps"],
);

/** Throws SchemaError that says where the text departs from FORMAT.md. */
export function parseCase(source: string): Case {
  const yaml = parseDocument(source, { uniqueKeys: true });
  const error = yaml.errors[0];
  if (error !== undefined) throw new SchemaError(error.message);
  const value = yaml.toJS() as Case;
  document(value, "");
  return {
    ...value,
    needs: value.needs ?? [],
    config: value.config ?? {},
    flags: value.flags ?? [],
    files: value.files ?? {},
    quirk: value.quirk ?? false,
  };
}
