/** Settings whose content nginx reads from files. */

import { createHash } from "node:crypto";
import type { Settings } from "../catalog/settings.ts";
import { Private } from "../model/certificate.ts";
import type { Directive, FileText } from "../model/model.ts";

export function fileDirectives(settings: Settings): Directive[] {
  const out: Directive[] = [];
  const dhParam = settings["ssl-dh-param"]?.data?.["dhparam.pem"];
  if (dhParam !== undefined) out.push({ name: "ssl_dhparam", args: [file("dhparam", dhParam)] });
  const key = settings["ssl-session-ticket-key"];
  if (key !== "") out.push({ name: "ssl_session_ticket_key", args: [{ ...file("ticket", key), encoding: "base64" }] });
  return out;
}

function file(kind: string, content: string): FileText {
  const hash = createHash("sha256").update(content).digest("hex").slice(0, 32);
  return { file: `${kind}-${hash}`, content: new Private(content) };
}
