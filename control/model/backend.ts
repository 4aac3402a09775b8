/** An upstream before its endpoints are known; endpoints are added when its document is made. */

import type { BackendDocument, EndpointDocument } from "../../lua-src/wire.ts";
import type { ObjectRef } from "./ids.ts";

/** Where a backend's endpoints come from. */
export type EndpointSource =
  | { readonly kind: "slices"; readonly namespace: string; readonly service: string; readonly port: ServicePortMatch }
  | { readonly kind: "fixed"; readonly endpoints: readonly EndpointDocument[] }
  | { readonly kind: "dns"; readonly host: string; readonly port: number }
  | { readonly kind: "none" };

/** Which port of the slices: by the service port's name; targetPort where a slice names none. */
export interface ServicePortMatch {
  /** "" for an unnamed service port. */
  readonly name: string;
  readonly protocol: string;
  readonly targetPort: number | string;
  /** Only endpoints hinted for this zone, where every endpoint of a slice has hints. */
  readonly zone?: string;
}

export interface Backend {
  /** `<namespace>-<service>-<port>`. */
  readonly id: string;
  readonly endpoints: EndpointSource;
  readonly document: Omit<BackendDocument, "endpoints">;
  /** The Service; absent for the built-in default backend. */
  readonly source: ObjectRef | undefined;
}
