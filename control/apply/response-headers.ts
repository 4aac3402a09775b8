/** Headers on every answer: HSTS and add-headers. */
import type { GlobalHeader } from "../model/conf-basis.ts";
import type { ConfView } from "../plan/conf-view.ts";
import { printDirective } from "../plan/directive.ts";

const families = ["proxy", "grpc", "fastcgi"];

export function responseHeaderLines(view: ConfView): string[] {
  const hsts = view.hsts === undefined ? [] : [addHeader({ name: "Strict-Transport-Security", value: "$sluice_hsts" })];
  const put = view.features.headersMore ? replaceHeader : hideAndAdd;
  return [...hsts, ...view.responseHeaders.flatMap(put)];
}

/** The backend's own Strict-Transport-Security: $sluice_hsts passes it on where ours is not due. */
export function hiddenHeaderLines(view: ConfView): string[] {
  return view.hsts === undefined ? [] : families.map((family) => `${family}_hide_header Strict-Transport-Security;`);
}

function addHeader({ name, value }: GlobalHeader): string {
  return printDirective({ name: "add_header", args: [name, value, "always"] });
}

function replaceHeader({ name, value }: GlobalHeader): string[] {
  return [printDirective({ name: "more_set_headers", args: [`${name}: ${value}`] })];
}

/** As good as nginx can without the headers-more module: a location with an add_header of its own loses these. */
function hideAndAdd(header: GlobalHeader): string[] {
  return [...families.map((family) => printDirective({ name: `${family}_hide_header`, args: [header.name] })), addHeader(header)];
}
