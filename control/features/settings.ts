/** The rows of the ConfigMap, of all areas. Defaults are those users of ingress-nginx know. */

import { accessSettings } from "./settings/access.ts";
import { answersSettings } from "./settings/answers.ts";
import { clientsSettings } from "./settings/clients.ts";
import { forwardedSettings } from "./settings/forwarded.ts";
import { logsSettings } from "./settings/logs.ts";
import { processSettings } from "./settings/process.ts";
import { proxyingSettings } from "./settings/proxying.ts";
import { snippetsSettings } from "./settings/snippets.ts";
import { telemetrySettings } from "./settings/telemetry.ts";
import { tlsSettings } from "./settings/tls.ts";

export const settings = {
  ...accessSettings,
  ...answersSettings,
  ...clientsSettings,
  ...forwardedSettings,
  ...logsSettings,
  ...processSettings,
  ...proxyingSettings,
  ...snippetsSettings,
  ...telemetrySettings,
  ...tlsSettings,
} as const;
