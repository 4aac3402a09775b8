// What came back of one request.

export interface TlsSeen {
  /** As OpenSSL names it, "TLSv1.3". */
  readonly protocol: string;
  readonly cipher: string;
  readonly subject_cn: string | undefined;
  /** Agreed by ALPN; undefined when nothing was. */
  readonly alpn: string | undefined;
}

export interface Reply {
  readonly status: number | undefined;
  /** In order, names as sent; trailers come last. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer;
  readonly tls?: TlsSeen;
}

/** `timedOut`: the peer kept silent; else it refused, closed or broke the protocol. */
export interface Failure {
  readonly reason: string;
  readonly timedOut: boolean;
}

export type Outcome = { readonly kind: "reply"; readonly reply: Reply } | { readonly kind: "failed"; readonly failure: Failure };

export class TimedOut extends Error {}

export function failureOf(error: unknown): Outcome {
  const reason = error instanceof Error ? error.message : String(error);
  return { kind: "failed", failure: { reason, timedOut: error instanceof TimedOut } };
}

export function headerValues(reply: Reply, name: string): readonly string[] {
  const wanted = name.toLowerCase();
  return reply.headers.filter(([one]) => one.toLowerCase() === wanted).map(([, value]) => value);
}
