// The pods of the demo apps: one process, one HTTP server an address. Each says who it is and what it was asked.
// usage: node examples/pods.mjs APP/POD@ADDRESS:PORT …
// Prints "ready" once all listen; ends with its parent.
import { createServer } from "node:http";

function parsePod(text) {
  const match = /^([^/]+)\/([^@]+)@(.+):(\d+)$/.exec(text);
  if (match === null) throw new Error(`not APP/POD@ADDRESS:PORT: ${text}`);
  const [, app, pod, address, port] = match;
  return { app, pod, address, port: Number(port) };
}

function answer(pod, request, response) {
  const headers = Object.entries(request.headers).map(([name, value]) => `  ${name}: ${value}`);
  const lines = [`app: ${pod.app}`, `pod: ${pod.pod}`, `path: ${request.url}`, "headers:", ...headers, ""];
  request.resume();
  response.writeHead(200, { "content-type": "text/plain", "x-app": pod.app, "x-pod": pod.pod });
  response.end(lines.join("\n"));
}

function listen(pod) {
  const server = createServer((request, response) => answer(pod, request, response));
  // Longer than nginx keeps its side open: a pod never closes a connection just as a request arrives on it.
  server.keepAliveTimeout = 600_000;
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(pod.port, pod.address, resolve);
  });
}

const pods = process.argv.slice(2).map(parsePod);
try {
  await Promise.all(pods.map(listen));
} catch (error) {
  console.error(error.message);
  process.exit(1);
}
console.log("ready");
process.stdin.resume();
process.stdin.once("end", () => process.exit(0));
process.once("SIGTERM", () => process.exit(0));
