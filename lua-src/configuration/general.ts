/** The general document as this worker last read it. */
import { decode } from "cjson.safe";
import { type Patterns, preparePatterns } from "../access/client-blocks";
import { type Networks, networksOf } from "../access/networks";
import type { GeneralDocument } from "../wire";
import { readGeneral } from "./store";

/** Until one has been stored: those of a controller without a ConfigMap. */
const initial: GeneralDocument = {
  useForwardedHeaders: false,
  useProxyProtocol: false,
  httpRedirectCode: 308,
  httpsPort: 443,
  healthPath: "/healthz",
  tries: 3,
  logVariables: [],
  statusAllow: ["127.0.0.1", "::1"],
  hostPatterns: [],
};

interface State {
  current: GeneralDocument;
  logVariables: boolean;
  /** Lists of GeneralDocument.access, ready for use; undefined: there is none. */
  allow: Networks | undefined;
  deny: Networks | undefined;
  blocked: Networks | undefined;
  proxies: Networks | undefined;
  /** GeneralDocument.statusAllow. */
  status: Networks;
  agents: Patterns | undefined;
  referers: Patterns | undefined;
  blocksClients: boolean;
}

const state: State = {
  current: initial,
  logVariables: false,
  allow: undefined,
  deny: undefined,
  blocked: undefined,
  proxies: undefined,
  status: networksOf(initial.statusAllow),
  agents: undefined,
  referers: undefined,
  blocksClients: false,
};

function networks(list: readonly string[] | undefined): Networks | undefined {
  return list === undefined ? undefined : networksOf(list);
}

function prepareAccess({ access, statusAllow, proxies }: GeneralDocument): void {
  state.allow = networks(access?.allow);
  state.deny = networks(access?.deny);
  state.blocked = networks(access?.blockCidrs);
  state.proxies = networks(proxies);
  state.status = networksOf(statusAllow);
  state.agents = preparePatterns(access?.blockUserAgents);
  state.referers = preparePatterns(access?.blockReferers);
  state.blocksClients = state.agents !== undefined || state.referers !== undefined;
}

function currentGeneral(): GeneralDocument {
  return state.current;
}

function reloadGeneral(): void {
  const text = readGeneral();
  const [document] = decode(text ?? "");
  state.current = (document as GeneralDocument | undefined) ?? initial;
  state.logVariables = state.current.logVariables.length > 0;
  prepareAccess(state.current);
}

export { currentGeneral, reloadGeneral, state as generalState };
