/** The body of an AdmissionReview request → HTTP status and body of the answer. */

import type { Ingress } from "../source/kinds.ts";
import { type Reduced, reduceObject } from "../source/kinds.ts";
import type { Verdict } from "./check.ts";

export interface ReviewAnswer {
  readonly status: number;
  /** JSON, or words where status is not 200. */
  readonly body: string;
  /** Absent where nothing was checked. */
  readonly verdict?: Verdict & { readonly namespace: string; readonly name: string };
}

export type Check = (ingress: Ingress) => Verdict | Promise<Verdict>;

interface Request {
  readonly uid: string;
  readonly kind: { readonly group: string; readonly version: string; readonly kind: string };
  readonly operation: string;
  readonly object: unknown;
}

interface Review {
  readonly apiVersion: string;
  readonly kind: string;
  readonly request: Request;
}

export async function answerReview(body: string, check: Check): Promise<ReviewAnswer> {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    return { status: 400, body: "the body is not JSON\n" };
  }
  if (!isReview(parsed)) return { status: 500, body: "the body is not an AdmissionReview of admission.k8s.io/v1 with a request\n" };
  const { kind, operation, object, uid } = parsed.request;
  if (kind?.group !== "networking.k8s.io" || kind.version !== "v1" || kind.kind !== "Ingress") {
    return { status: 500, body: "only Ingresses of networking.k8s.io/v1 are checked here\n" };
  }
  // Whoever is being deleted is let go, whatever it looks like.
  if (operation === "DELETE" || isLeaving(object)) return answer(parsed, uid, { warnings: [], refusal: undefined });
  const reduced: Reduced = reduceObject("Ingress", object);
  if ("error" in reduced) {
    return answer(parsed, uid, { warnings: [], refusal: `the Ingress cannot be read: ${reduced.error.at} ${reduced.error.text}` });
  }
  const ingress = reduced.ok as Ingress;
  const verdict = await check(ingress);
  return { ...answer(parsed, uid, verdict), verdict: { ...verdict, namespace: ingress.metadata.namespace, name: ingress.metadata.name } };
}

function answer(review: Review, uid: string, verdict: Pick<Verdict, "warnings" | "refusal">): ReviewAnswer {
  const { refusal, warnings } = verdict;
  const response = {
    uid,
    allowed: refusal === undefined,
    ...(warnings.length === 0 ? {} : { warnings }),
    ...(refusal === undefined ? {} : { status: { status: "Failure", message: refusal, reason: "BadRequest", code: 400 } }),
  };
  return { status: 200, body: JSON.stringify({ ...review, response }) };
}

function isReview(value: unknown): value is Review {
  if (!isRecord(value) || value.kind !== "AdmissionReview" || value.apiVersion !== "admission.k8s.io/v1") return false;
  return isRecord(value.request) && typeof value.request.uid === "string" && isRecord(value.request.kind);
}

function isLeaving(object: unknown): boolean {
  return isRecord(object) && isRecord(object.metadata) && typeof object.metadata.deletionTimestamp === "string";
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
