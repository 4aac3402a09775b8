/** A certificate authority of the tests: client certificates, intermediates and revocation lists. */
import { sign, X509Certificate } from "node:crypto";
import { generateKeys, type Issuer, makeCertificate, privatePem } from "../cases/runner/certificate.ts";
import { bits, integer, oid, pem, sequence, setOf, time, utf8 } from "../cases/runner/der.ts";

export interface ClientPair {
  readonly cert: string;
  readonly key: string;
}

export class Authority {
  readonly certificate: string;
  readonly #issuer: Issuer;

  constructor(cn: string, parent?: Authority) {
    const keys = generateKeys("ec256");
    this.#issuer = { cn, keys };
    this.certificate = makeCertificate({
      cn,
      sans: [],
      isCa: true,
      days: 30,
      keys,
      ...(parent === undefined ? {} : { issuer: parent.#issuer }),
    });
  }

  issue(cn: string, days = 30): ClientPair {
    const keys = generateKeys("ec256");
    return { cert: makeCertificate({ cn, sans: [], isCa: false, days, keys, issuer: this.#issuer }), key: privatePem(keys) };
  }

  /** Good for a day. */
  revocationList(...revoked: readonly ClientPair[]): string {
    const algorithm = sequence(oid("1.2.840.10045.4.3.2"));
    const now = Date.now();
    const entries = revoked.map(({ cert }) =>
      sequence(integer(Buffer.from(new X509Certificate(cert).serialNumber, "hex")), time(new Date(now - 60_000))),
    );
    const body = sequence(
      integer(Buffer.from([1])),
      algorithm,
      sequence(setOf(sequence(oid("2.5.4.3"), utf8(this.#issuer.cn)))),
      time(new Date(now - 3_600_000)),
      time(new Date(now + 86_400_000)),
      ...(entries.length > 0 ? [sequence(...entries)] : []),
    );
    return pem("X509 CRL", sequence(body, algorithm, bits(sign("sha256", body, this.#issuer.keys.privateKey))));
  }
}
