/** custom-http-errors and default-backend: who answers errors and stands in for an empty backend, and what they are told. */
import { type Backend, backendNamed, refreshBackend } from "../balancer/peers";
import { flag, object, text } from "../configuration/check";
import type { CustomErrorsDocument } from "../wire";
import type { Feature, RequestState } from "./feature";

interface CustomErrors {
  readonly backend: Backend | undefined;
  readonly pages: boolean;
}

/** error_page empties ngx.ctx but leaves nginx's variables; the request goes on holding its state, so weak will do. */
const kept = new LuaTable<number, RequestState>();
setmetatable(kept, { __mode: "v" } as unknown as LuaMetatable<LuaTable<number, RequestState>>);
const counter = { last: 0 };

function keepState(request: RequestState): void {
  counter.last += 1;
  kept.set(counter.last, request);
  ngx.var.set("sluice_state", tostring(counter.last));
}

/** The state kept for this request; undefined for requests that were refused before they had a route. */
function recallState(): RequestState | undefined {
  const place = tonumber(ngx.var.get("sluice_state"));
  return place === undefined ? undefined : kept.get(place);
}

function setHeader(name: string, value: string | undefined): void {
  if (value === undefined || value === "") {
    ngx.req.clear_header(name);
  } else {
    ngx.req.set_header(name, value);
  }
}

/** Request headers that say which error it is and whose. */
function tellError(request: RequestState | undefined, code: string): void {
  const source = request?.route.source;
  setHeader("X-Code", code);
  setHeader("X-Format", ngx.var.get("http_accept"));
  setHeader("X-Namespace", source?.get(1));
  setHeader("X-Ingress-Name", source?.get(2));
  setHeader("X-Service-Name", source?.get(3));
  setHeader("X-Service-Port", source?.get(4));
}

function hasPeers(backend: Backend): boolean {
  if (!backend.fresh) {
    refreshBackend(backend);
  }
  return backend.peers.count > 0;
}

/** The location's own backend has no endpoints. False when the other one has none either. */
function standIn(request: RequestState, fallback: Backend): boolean {
  if (!hasPeers(fallback)) {
    return false;
  }
  request.backend = fallback;
  tellError(request, "503");
  return true;
}

function early(config: CustomErrors, request: RequestState): LuaMultiReturn<[number?, string?]> {
  request.fallback = config.backend;
  if (config.pages) {
    keepState(request);
  }
  return $multi();
}

function prepare(document: CustomErrorsDocument): CustomErrors {
  const { backend } = document;
  return { backend: backend === undefined ? undefined : backendNamed(backend), pages: document.pages === true };
}

export const customErrors: Feature<CustomErrorsDocument, CustomErrors> = {
  check: object({ "backend?": text, "pages?": flag }),
  prepare: (document) => prepare(document),
  early,
};

export { hasPeers, keepState, recallState, setHeader, standIn, tellError };
