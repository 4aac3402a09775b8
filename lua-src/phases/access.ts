/**
 * Who may pass: address lists, credentials, external authentication, in that order, as nginx's access phase does it.
 * With satisfy any one that says yes is enough; when all say no, 401 (somebody could be told who asks) before 403.
 */
import { clientBytes } from "../access/client-address";
import { contains } from "../access/networks";
import { generalState } from "../configuration/general";
import type { RequestState, Step } from "../features/feature";
import { runSteps, type Steps } from "../features/order";
import type { RouteMore } from "../router/route";

const yes = 200;

/** Undefined: may pass. */
function verdictOf(steps: Steps, any: boolean, soFar: number | undefined, request: RequestState): number | undefined {
  let refused = soFar;
  const list = steps.list;
  for (const i of $range(1, steps.count, 2)) {
    const step = list.get(i) as Step<unknown>;
    const [verdict] = step(list.get(i + 1), request);
    if (verdict === yes) {
      if (any) {
        return undefined;
      }
    } else if (verdict !== undefined) {
      if (!any || (verdict !== 401 && verdict !== 403)) {
        return verdict;
      }
      refused = refused === 401 ? 401 : verdict;
    }
  }
  return refused;
}

/** block-cidrs, as a list of the whole server: a route with lists of its own does not have it. */
function isBlocked(more: RouteMore | undefined): boolean {
  const blocked = generalState.blocked;
  return blocked !== undefined && more?.ownLists !== true && contains(blocked, clientBytes());
}

function decide(request: RequestState, more: RouteMore | undefined): number | undefined {
  const blocked = isBlocked(more) ? 403 : undefined;
  const steps = more?.access;
  if (steps === undefined || (blocked !== undefined && !more!.anyAccess)) {
    return blocked;
  }
  return verdictOf(steps, more!.anyAccess, blocked, request);
}

/** What to answer with; nothing: go on. May wait. */
function checkAccess(request: RequestState, more: RouteMore | undefined): LuaMultiReturn<[status?: number, location?: string]> {
  const status = decide(request, more);
  if (status === undefined) {
    if (more?.passed !== undefined) {
      runSteps(more.passed, request);
    }
    return $multi();
  }
  request.refused = status;
  if (more?.refused !== undefined) {
    const [instead, location] = runSteps(more.refused, request);
    if (instead !== undefined) {
      return $multi(instead, location);
    }
  }
  if (status === 401) {
    ngx.header.set("WWW-Authenticate", request.challenge);
  }
  return $multi(status);
}

export { checkAccess };
