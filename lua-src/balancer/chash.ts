/** upstream-hash-by: equal keys go to the same peer; few keys move when peers change. */
import { expandTemplate, parseTemplate, type Template } from "../base/template";
import type { RequestState } from "../features/feature";
import { fillRouteVariables, namesRouteVariables } from "../features/route-variables";
import type { BackendDocument } from "../wire";
import { health, heedsHealth, isFailing } from "./health";
import { nobody, type Peers, peerKey, peerKeys, samePeers } from "./peer-list";
import { Ring } from "./ring";

/** Text and variables; "$1" is a group of the location's expression. */
export interface HashKey {
  readonly template: Template;
  readonly groups: boolean;
  /** It names variables of the location. */
  readonly namesRoute: boolean;
}

function parseHashKey(text: string): HashKey {
  const template = parseTemplate(text);
  let groups = false;
  for (const i of $range(2, template.count, 2)) {
    groups = groups || tonumber(template.parts.get(i)) !== undefined;
  }
  return { template, groups, namesRoute: namesRouteVariables(template) };
}

/** The path that was routed. Once rewritten, only the raw one is left. */
function routedPath(request: RequestState): string {
  if (request.rewritten !== true) {
    return request.uri ?? ngx.var.get("uri")!;
  }
  const [path] = string.match(ngx.var.get("request_uri")!, "^[^?]*");
  return ngx.unescape_uri(path!);
}

function hashKeyOf(key: HashKey, request: RequestState): string {
  if (key.namesRoute) {
    fillRouteVariables(request.route);
  }
  if (!key.groups) {
    return expandTemplate(key.template);
  }
  const [groups] = ngx.re.match(routedPath(request), `^${request.route.source.get(5)}`, "ijo");
  return expandTemplate(key.template, groups);
}

export class Chash {
  private peers = nobody;
  private ring: Ring | undefined;
  private text = "";
  private key: HashKey | undefined;

  algorithm(): string {
    return "chash";
  }

  update(peers: Peers, document: BackendDocument): void {
    const text = document.upstreamHashByConfig["upstream-hash-by"]!;
    if (text !== this.text) {
      this.text = text;
      this.key = parseHashKey(text);
    }
    if (!samePeers(peers, this.peers)) {
      this.peers = peers;
      // made when first needed: many backends, few of them busy in this worker
      this.ring = undefined;
    }
  }

  pick(peers: Peers, request: RequestState): number {
    let ring = this.ring;
    if (ring === undefined) {
      ring = new Ring(peerKeys(peers), peers.count);
      this.ring = ring;
    }
    const point = ring.pointOf(hashKeyOf(this.key!, request));
    if (request.tries > 0 || health.until > 0) {
      return this.better(ring, point, peers, request);
    }
    return ring.ownerOf(point);
  }

  /** Clockwise from the point, the first peer that is neither tried nor failing; else the first untried; else the key's own. */
  private better(ring: Ring, point: number, peers: Peers, request: RequestState): number {
    const tried = request.tried;
    const heeds = heedsHealth(request);
    let untried = 0;
    const best = ring.first(point, (place) => {
      if (tried !== undefined && tried.get(peerKey(peers, place)) !== undefined) {
        return false;
      }
      untried = untried === 0 ? place : untried;
      return !heeds || !isFailing(peers, place, request);
    });
    if (best !== 0) {
      return best;
    }
    return untried === 0 ? ring.ownerOf(point) : untried;
  }
}

export { hashKeyOf, parseHashKey };
