/** $subdomain: the label that the "*" of a wildcard host stands for. `rest`: what follows it, as ".d.test"; undefined: no wildcard. */
function subdomainOf(rest: string | undefined): string {
  const host = ngx.var.get("host") ?? "";
  const [label] = string.match(host, "^([%w_-]+)%.");
  // an alias of the host has no such label
  return rest !== undefined && label !== undefined && string.sub(host, label.length + 1) === rest ? label : "";
}

export { subdomainOf };
