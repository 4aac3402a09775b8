import { generateKeys, makeCertificate, privatePem } from "../cases/runner/certificate.ts";

export interface MadeCertificate {
  readonly certificate: string;
  readonly key: string;
}

/** Self-signed for that one name, valid for a year. */
export function selfSigned(name: string): MadeCertificate {
  const keys = generateKeys("ec256");
  return { certificate: makeCertificate({ cn: name, sans: [name], isCa: false, days: 365, keys }), key: privatePem(keys) };
}
