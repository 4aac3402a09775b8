// Answers every request; runs in the namespace of the container, on a pod's address.
import { createServer } from "node:http";

createServer((request, response) => {
  response.setHeader("content-type", "text/plain");
  response.end(`backend saw ${request.headers.host}${request.url} ${"x".repeat(2000)}\n`);
}).listen(8080, "10.244.0.5", () => console.log("ready"));
