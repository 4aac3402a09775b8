// A case file as FORMAT.md describes it: its types. case-schema.ts checks that a file has them.
import type { KubeObject } from "../../kit/fixtures/objects";

/** Equality, or every named test. A missing value meets `absent`, `lacks` and null only. */
export type Matcher = string | number | boolean | null | MatcherTests;

export interface MatcherTests {
  readonly absent?: boolean;
  readonly contains?: string | readonly string[];
  readonly lacks?: string | readonly string[];
  /** JavaScript patterns, searched. */
  readonly matches?: string | readonly string[];
}

export type Matchers = Readonly<Record<string, Matcher>>;
export type Range = readonly [min: number, max: number];
export type HeaderValues = Readonly<Record<string, string | readonly string[]>>;

export interface ClientTls {
  readonly min?: TlsVersion;
  readonly max?: TlsVersion;
  readonly ciphers?: string;
  readonly sni?: string | null;
}

export type TlsVersion = "TLSv1" | "TLSv1.1" | "TLSv1.2" | "TLSv1.3";

export interface RequestSpec {
  readonly url: string;
  readonly method?: string;
  readonly headers?: HeaderValues;
  readonly body?: string | { readonly size: number };
  readonly chunked?: boolean;
  readonly raw?: string;
  readonly http_version?: "1.0" | "1.1" | "2";
  readonly protocol?: "websocket" | "grpc";
  readonly proxy_protocol?: string;
  readonly client_cert?: string;
  readonly tls?: ClientTls;
  readonly follow?: false;
}

export interface EchoExpectation {
  readonly service?: Matcher;
  readonly namespace?: Matcher;
  readonly pod?: Matcher;
  readonly method?: Matcher;
  readonly uri?: Matcher;
  readonly http_version?: Matcher;
  readonly headers?: Matchers;
  readonly body?: Matcher;
  readonly params?: Matchers;
  readonly tls?: { readonly sni?: Matcher; readonly client_cn?: Matcher } | null;
}

export interface Expectation {
  readonly status?: number | readonly number[];
  readonly headers?: Matchers;
  readonly body?: MatcherTests;
  readonly echo?: EchoExpectation;
  readonly shares?: Readonly<Record<string, Range>>;
  readonly statuses?: Readonly<Record<string, Range>>;
  readonly same_pod?: boolean | string;
  readonly pods?: { readonly min?: number; readonly max?: number; readonly each?: Range };
  readonly elapsed_ms?: { readonly min?: number; readonly max?: number };
  readonly tls?: { readonly protocol?: Matcher; readonly subject_cn?: Matcher; readonly alpn?: Matcher; readonly cipher?: Matcher };
  readonly failed?: boolean;
}

export interface RequestStep {
  readonly request: RequestSpec;
  readonly times?: number;
  readonly connection?: "reuse" | "fresh";
  readonly jar?: string;
  readonly client_ip?: string | null;
  readonly parallel?: boolean;
  readonly expect?: Expectation;
}

export interface ApplyStep {
  readonly apply: { readonly objects?: readonly KubeObject[]; readonly config?: Readonly<Record<string, string>> };
  readonly refused?: boolean;
  readonly message?: Matcher;
}

export interface SawSpec {
  readonly service: string;
  readonly count: Range;
  /** How many connections they came on. */
  readonly connections?: Range;
  readonly method?: Matcher;
  readonly uri?: Matcher;
  readonly headers?: Matchers;
  readonly body?: Matcher;
}

export interface LogsSpec {
  readonly contains?: string | readonly string[];
  readonly lacks?: string | readonly string[];
}

export type Step =
  | RequestStep
  | ApplyStep
  | { readonly delete: { readonly kind: string; readonly name: string; readonly namespace?: string; readonly apiVersion?: string } }
  | { readonly wait: { readonly ms: number } }
  | { readonly scale: { readonly service: string; readonly pods: number } }
  | { readonly saw: SawSpec }
  | { readonly logs: LogsSpec }
  | { readonly conf: LogsSpec };

export const NEEDS = [
  "modsecurity",
  "opentelemetry",
  "geoip",
  "brotli",
  "grpc",
  "stream",
  "http3",
  "passthrough",
  "snippets",
  "admission",
  "logs",
  "cluster-ip",
  "cluster-dns",
] as const;
export type Need = (typeof NEEDS)[number];

export type MaterialSpec =
  | {
      readonly generate: "cert";
      readonly cn: string;
      readonly sans?: readonly string[];
      /** "self", or the key of a generated CA, or "fixture-ca". */
      readonly ca?: string;
      /** Negative: expired that many days ago. */
      readonly days?: number;
      readonly key?: "rsa2048" | "ec256";
    }
  | { readonly generate: "ca"; readonly ca?: string }
  | { readonly generate: "htpasswd"; readonly users: Readonly<Record<string, string>>; readonly hash?: "apr1" | "bcrypt" | "sha" }
  | { readonly generate: "dhparam" };

export interface Case {
  readonly id: string;
  readonly title: string;
  readonly origin?: string;
  readonly needs: readonly Need[];
  readonly config: Readonly<Record<string, string>>;
  readonly flags: readonly string[];
  readonly files: Readonly<Record<string, MaterialSpec>>;
  readonly objects: readonly KubeObject[];
  readonly quirk: boolean;
  readonly steps: readonly Step[];
}
