/** Findings → what their Events say. Annotation trouble keeps the reason that users' alerts know. */

import type { Finding, FindingCode } from "../model/finding.ts";
import { findingCodes, severityOf } from "../model/finding.ts";
import { refText } from "../model/ids.ts";
import type { EventText } from "./events.ts";

const annotationCodes: ReadonlySet<FindingCode> = new Set(["annotation-invalid", "annotation-refused", "location-denied"]);

/** Undefined: not worth an Event. */
export function eventOfFinding(finding: Finding): EventText | undefined {
  if (severityOf(finding) === "info") return undefined;
  const at = finding.at === "" ? "" : `${finding.at}: `;
  const also = finding.also === undefined || finding.also.length === 0 ? "" : ` (see also ${finding.also.map(refText).join(", ")})`;
  const message = `${at}${finding.text}${also}`;
  if (annotationCodes.has(finding.code)) {
    return { type: "Warning", reason: "AnnotationParsingFailed", message: `Error parsing annotations: ${message}` };
  }
  return { type: "Warning", reason: pascal(finding.code), message: `${message}. ${findingCodes[finding.code].hint}` };
}

function pascal(code: string): string {
  return code.replaceAll(/(?:^|-)([a-z])/g, (_all, letter: string) => letter.toUpperCase());
}
