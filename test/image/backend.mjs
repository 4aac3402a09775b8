// Answers every request; runs in the namespace of the container, on a pod's address. An authentication service, too.
import { createServer } from "node:http";

createServer((request, response) => {
  const { host, "x-original-url": original, "x-saw": saw } = request.headers;
  response.statusCode = request.url === "/deny" ? 401 : 200;
  response.setHeader("content-type", "text/plain");
  response.setHeader("x-saw", original ?? "-");
  response.end(`backend saw ${host}${request.url} ${saw ?? "-"} ${"x".repeat(2000)}\n`);
}).listen(8080, "10.244.0.5", () => console.log("ready"));
