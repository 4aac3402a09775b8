/** The general document as this worker last read it. */
import { decode } from "cjson.safe";
import type { GeneralDocument } from "../wire";
import { readGeneral } from "./store";

/** Until one has been stored: those of a controller without a ConfigMap. */
const initial: GeneralDocument = {
  useForwardedHeaders: false,
  useProxyProtocol: false,
  httpRedirectCode: 308,
  httpsPort: 443,
  healthPath: "/healthz",
  timeouts: { connect: 5000, send: 60000, read: 60000 },
  tries: 3,
  logVariables: [],
  statusAllow: ["127.0.0.1", "::1"],
  hostPatterns: [],
};

const state: { current: GeneralDocument; logVariables: boolean } = { current: initial, logVariables: false };

function currentGeneral(): GeneralDocument {
  return state.current;
}

function reloadGeneral(): void {
  const text = readGeneral();
  const [document] = decode(text ?? "");
  state.current = (document as GeneralDocument | undefined) ?? initial;
  state.logVariables = state.current.logVariables.length > 0;
}

export { currentGeneral, reloadGeneral, state as generalState };
