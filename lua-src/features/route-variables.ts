/** Variables that describe the location ($namespace, $service_name, …): filled only where somebody names them. */
import { subdomainOf } from "../base/subdomain";
import type { Template } from "../base/template";
import type { Route } from "../router/route";

const names = new LuaTable<string, true>();
for (const name of ["namespace", "ingress_name", "service_name", "service_port", "location_path", "proxy_upstream_name", "subdomain"]) {
  names.set(name, true);
}

function namesRouteVariables(template: Template): boolean {
  for (const i of $range(2, template.count, 2)) {
    if (names.get(template.parts.get(i)!) !== undefined) {
      return true;
    }
  }
  return false;
}

function fillRouteVariables({ source, backend }: Route): void {
  ngx.var.set("namespace", source.get(1));
  ngx.var.set("ingress_name", source.get(2));
  ngx.var.set("service_name", source.get(3));
  ngx.var.set("service_port", source.get(4));
  ngx.var.set("location_path", source.get(5));
  ngx.var.set("subdomain", subdomainOf(source.get(6)));
  if (backend !== undefined) {
    ngx.var.set("proxy_upstream_name", backend.name);
  }
}

export { fillRouteVariables, namesRouteVariables };
