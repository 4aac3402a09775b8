/** Every feature, in the order of the docs. */

import { accessLog } from "./access-log.ts";
import { affinity } from "./affinity.ts";
import { answerRewrite } from "./answer-rewrite.ts";
import { authBasic } from "./auth-basic.ts";
import { authExternal } from "./auth-external.ts";
import { authTls } from "./auth-tls.ts";
import { backendProtocol } from "./backend-protocol.ts";
import { backendTls } from "./backend-tls.ts";
import { balance } from "./balance.ts";
import { body } from "./body.ts";
import { buffering } from "./buffering.ts";
import { canary } from "./canary.ts";
import { cors } from "./cors.ts";
import { customErrors } from "./custom-errors.ts";
import { customHeaders } from "./custom-headers.ts";
import { fastcgi } from "./fastcgi.ts";
import { headers } from "./headers.ts";
import { ipAccess } from "./ip-access.ts";
import { mirror } from "./mirror.ts";
import { rateLimit } from "./rate-limit.ts";
import { redirect } from "./redirect.ts";
import { removed } from "./removed.ts";
import { retries } from "./retries.ts";
import { rewrite } from "./rewrite.ts";
import { serverAlias } from "./server-alias.ts";
import { serverTls } from "./server-tls.ts";
import { snippets } from "./snippets.ts";
import { sslRedirect } from "./ssl-redirect.ts";
import { telemetry } from "./telemetry.ts";
import { timeouts } from "./timeouts.ts";
import { waf } from "./waf.ts";

export const features = [
  affinity,
  ipAccess,
  rewrite,
  sslRedirect,
  redirect,
  authBasic,
  authExternal,
  authTls,
  backendProtocol,
  fastcgi,
  canary,
  body,
  buffering,
  timeouts,
  retries,
  snippets,
  headers,
  customHeaders,
  answerRewrite,
  cors,
  customErrors,
  accessLog,
  rateLimit,
  mirror,
  waf,
  telemetry,
  backendTls,
  serverTls,
  balance,
  serverAlias,
  removed,
] as const;
