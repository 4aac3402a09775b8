/** GET /configuration/match: what the router would do with a URL, and why. Asks the very functions that serve traffic. */
import { alternativeByRules } from "../balancer/choose";
import { type Backend, backendNamed, refreshBackend } from "../balancer/peers";
import { prepareSslRedirect, secureLocation } from "../features/ssl-redirect";
import { type Resolution, resolveHost } from "../router/host";
import { matchPath } from "../router/path";
import type { RouteMore } from "../router/route";
import { hasCertificate } from "../tls/certificate";
import type { BackendDocument, HostDocument, MatchDocument, RouteDocument } from "../wire";
import { readEntry } from "./store";

export interface Question {
  readonly host: string;
  /** Decoded path. */
  readonly uri: string;
  /** As the client writes it, with its query. */
  readonly raw: string;
  readonly scheme: string;
}

type Draft = { -readonly [K in keyof MatchDocument]: MatchDocument[K] } & { reasons: string[] };

function because(draft: Draft, reason: string): void {
  draft.reasons[draft.reasons.length] = reason;
}

/** True when the host itself answers. */
function explainHost(draft: Draft, { host }: Resolution, question: Question): boolean {
  if (host.more === undefined) {
    return false;
  }
  const { deny, redirectTo, appRoot } = host.more;
  if (deny !== undefined) {
    draft.status = deny;
    because(draft, "the host is denied");
    return true;
  }
  if (redirectTo !== undefined) {
    draft.status = redirectTo.code;
    draft.location = `${question.scheme}://${redirectTo.host}${question.raw}`;
    because(draft, `the host redirects to ${redirectTo.host}`);
    return true;
  }
  if (appRoot !== undefined && question.uri === "/") {
    draft.status = 302;
    draft.location = `${question.scheme}://${question.host}${appRoot}`;
    because(draft, "app-root");
    return true;
  }
  return false;
}

function takeCanary(draft: Draft, name: string): void {
  draft.backend = name;
  draft.canary = name;
  draft.endpoints = (readEntry("backends", name) as BackendDocument | undefined)?.endpoints ?? [];
}

/** True when it is certain which canary answers. The headers of the question are those of this request. */
function explainCanary(draft: Draft, primary: Backend): boolean {
  if (primary.alternatives === undefined) {
    return false;
  }
  const chosen = alternativeByRules(primary);
  if (chosen !== undefined) {
    takeCanary(draft, chosen.name);
    because(draft, `the request's header or cookie chooses the canary ${chosen.name}`);
    return true;
  }
  const sharing: string[] = [];
  let shares = 0;
  const { list, count } = primary.alternatives;
  for (const i of $range(1, count)) {
    const { backend, open } = list.get(i)!;
    if (open) {
      const { weight, total } = backend.shaping!;
      sharing[sharing.length] = backend.name;
      shares += weight / total;
      because(draft, `the canary ${backend.name} takes ${weight} of ${total} such requests`);
    } else {
      because(draft, `the canary ${backend.name} does not take this request`);
    }
  }
  if (sharing.length === 1 && shares >= 1) {
    takeCanary(draft, sharing[0]!);
    return true;
  }
  if (sharing.length > 0) {
    draft.sharing = sharing;
  }
  return false;
}

function explainBackend(draft: Draft, name: string): void {
  const document = readEntry("backends", name) as BackendDocument | undefined;
  const backend = backendNamed(name);
  if (!backend.fresh) {
    refreshBackend(backend);
  }
  draft.backend = name;
  draft.endpoints = document?.endpoints ?? [];
  if (explainCanary(draft, backend)) {
    return;
  }
  if (backend.builtIn404 === true) {
    draft.status = 404;
    because(draft, "the built-in default backend answers 404");
  } else if (backend.peers.count === 0) {
    draft.status = 503;
    because(draft, document === undefined ? "the backend is unknown" : "the backend has no endpoints");
  }
}

/** Who may pass is not tried: the question has neither an address nor credentials. */
function explainAccess(draft: Draft, { ipAccess, authBasic, authExternal, satisfy }: RouteDocument["features"]): void {
  if (ipAccess !== undefined) {
    because(draft, "client addresses are limited");
  }
  if (authBasic !== undefined) {
    because(draft, `${authBasic.digest === true ? "digest" : "basic"} credentials of ${authBasic.users} are needed`);
  }
  if (authExternal !== undefined) {
    because(draft, `${authExternal.url} is asked`);
  }
  if (satisfy !== undefined) {
    because(draft, "satisfy any: one of these is enough");
  }
}

function explainRoute(draft: Draft, document: RouteDocument, more: RouteMore | undefined, question: Question): void {
  draft.route = document;
  because(draft, `${document.kind} path ${document.path}`);
  if (more?.foreign === true) {
    because(draft, `this worker's nginx.conf lacks the profile ${document.profile}`);
  }
  if (more?.status !== undefined) {
    draft.status = more.status;
    because(draft, "the route has a fixed answer");
  } else if (more?.slash !== undefined) {
    draft.status = 301;
    draft.location = more.slash;
    because(draft, "the path is redirected to its form with a slash");
  } else {
    explainBackend(draft, document.backend!);
    explainAccess(draft, document.features);
  }
  const redirect = document.features.sslRedirect;
  if (redirect !== undefined && question.scheme === "http" && document.fixed === undefined) {
    const config = prepareSslRedirect(redirect);
    if (config.force || hasCertificate(question.host)) {
      draft.status = redirect.code;
      draft.location = secureLocation(question.host, question.raw, config);
      because(draft, "plain http is redirected to https");
    } else {
      because(draft, "no certificate is mapped to this name, so plain http is served");
    }
  }
  const target = document.features.redirect;
  if (target !== undefined && document.fixed === undefined) {
    draft.status = target.code;
    draft.location = target.to;
    because(draft, "the location is a redirect");
  }
}

/** Never fails: what is not there is said in `reasons`. */
function explain(question: Question): MatchDocument {
  const resolution = resolveHost(question.host);
  const draft: Draft = { how: resolution.how, reasons: [] };
  if (resolution.how === "none") {
    draft.status = 404;
    because(draft, "no host of that name, and no catch-all");
    return draft;
  }
  draft.host = resolution.name;
  draft.aliasOf = resolution.aliasOf;
  if (!explainHost(draft, resolution, question)) {
    const route = matchPath(resolution.host, question.uri);
    if (route === undefined) {
      draft.status = 404;
      because(draft, "no path of the host matches");
    } else {
      const host = readEntry("hosts", resolution.name) as HostDocument;
      explainRoute(draft, host.routes[route.index - 1]!, route.more, question);
    }
  }
  return draft;
}

export { explain };
