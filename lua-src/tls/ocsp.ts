/**
 * OCSP stapling. A handshake takes what shared memory has and waits for nothing: a timer asks the responder, and again
 * before the answer grows old. A responder that fails is left alone for a while.
 */

import { create_ocsp_request, get_ocsp_responder_from_der_chain, set_ocsp_status_resp, validate_ocsp_response } from "ngx.ocsp";
import { cert_pem_to_der } from "ngx.ssl";
import { logWarning } from "../base/log";
import { readText } from "../configuration/store";

const answers = ngx.shared.get("ocsp_response_cache")!;
const keepSeconds = 3 * 24 * 3600;
const refreshSeconds = 3600;
const retrySeconds = 60;
const longestAnswer = 64 * 1024;

interface Responder {
  readonly host: string;
  readonly port: number;
  readonly path: string;
}

/** Plain http only, as responders are; anything else is undefined. */
function parseResponder(url: string): Responder | undefined {
  const [host, port, path] = string.match(url, "^[hH][tT][tT][pP]://([%w%.%-_]+):?(%d*)(/?[%w%-%._~!$&'()*+,;=:@/%%?]*)$");
  if (host === undefined) {
    return undefined;
  }
  return { host, port: tonumber(port) ?? 80, path: path === undefined || path === "" ? "/" : path };
}

/** Body of a 200 answer, or what is wrong. */
function ask({ host, port, path }: Responder, body: string): LuaMultiReturn<[string | undefined, string | undefined]> {
  const socket = ngx.socket.tcp();
  socket.settimeouts(2000, 2000, 5000);
  const [connected, refusal] = socket.connect(host, port);
  if (connected === undefined) {
    return $multi(undefined, refusal);
  }
  const head = `POST ${path} HTTP/1.0\r\nHost: ${host}\r\nContent-Type: application/ocsp-request\r\nContent-Length: ${body.length}\r\n\r\n`;
  socket.send(head + body);
  const [answer, silence] = socket.receive("*a");
  socket.close();
  if (answer === undefined) {
    return $multi(undefined, silence);
  }
  const [status] = string.match(answer, "^HTTP/1%.%d (%d%d%d)");
  const [, end] = string.find(answer, "\r\n\r\n", 1, true);
  if (status !== "200" || end === undefined || answer.length > longestAnswer) {
    return $multi(undefined, `the responder answers ${status ?? "no HTTP"}`);
  }
  return $multi(string.sub(answer, end + 1), undefined);
}

/** An error text, or undefined when the answer is stored. */
function fetchAnswer(uid: string, key: string): string | undefined {
  // the text is not kept beside the parsed certificate: thousands of them would fill the worker
  const [chain] = string.match(readText("certificates", uid) ?? "", "^(.-)%-%-%-%-%-BEGIN [%u ]*PRIVATE KEY");
  if (chain === undefined) {
    return undefined;
  }
  const [der, derProblem] = cert_pem_to_der(chain);
  if (der === undefined) {
    return derProblem;
  }
  const [url, urlProblem] = get_ocsp_responder_from_der_chain(der);
  if (url === undefined) {
    return urlProblem ?? "the certificate names no responder";
  }
  const responder = parseResponder(url);
  if (responder === undefined) {
    return `the responder ${url} cannot be used`;
  }
  const [request, requestProblem] = create_ocsp_request(der);
  if (request === undefined) {
    return requestProblem;
  }
  const [response, responseProblem] = ask(responder, request);
  if (response === undefined) {
    return responseProblem ?? "no answer";
  }
  const [valid, invalid] = validate_ocsp_response(response, der);
  if (valid !== true) {
    return invalid ?? "the answer is not good";
  }
  answers.set(key, response, keepSeconds);
  answers.set(`asked:${key}`, 1, refreshSeconds);
  return undefined;
}

function inTimer(premature: boolean, uid: string, key: string): void {
  if (premature) {
    return;
  }
  const [ok, problem] = pcall(fetchAnswer, uid, key);
  if (!ok || problem !== undefined) {
    logWarning("no OCSP answer", `${uid}: ${tostring(problem)}`);
  }
}

/** In the certificate phase. `key` changes with the certificate, its uid does not. */
function staple(uid: string, key: string): void {
  const [answer] = answers.get(key);
  if (answer !== undefined) {
    set_ocsp_status_resp(answer as string);
  }
  // one worker asks, and not again before its time is over
  const [mine] = answers.add(`asked:${key}`, 1, retrySeconds);
  if (mine) {
    ngx.timer.at(0, inTimer, uid, key);
  }
}

export { parseResponder, staple };
