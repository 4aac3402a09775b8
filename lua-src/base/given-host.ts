/** The Host that the client sent, with its port. HTTP/3 has no such header, and nginx makes none of its :authority. */
function givenHost(): string {
  return ngx.var.get("http_host") ?? ngx.var.get("host") ?? "";
}

export { givenHost };
