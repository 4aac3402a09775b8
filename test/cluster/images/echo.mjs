// A pod: says who it is. Env: POD_NAME, POD_IP, PORT; VERSION is repeated in the answer; the header x-id of a POST is logged.
// LINGER: once its end has come, milliseconds without a request until it stops listening; 0: at once.
import { createServer } from "node:http";

const { POD_NAME, POD_IP, PORT = "8080", VERSION = "", LINGER = "0" } = process.env;
let asked = 0;
const server = createServer((request, response) => {
  request.resume();
  asked = Date.now();
  if (request.method === "POST") console.log(`POST ${request.headers["x-id"]}`);
  response.writeHead(200, { "content-type": "application/json", "x-version": VERSION });
  response.end(JSON.stringify({ pod: POD_NAME, version: VERSION, uri: request.url, headers: request.headers }));
});
server.keepAliveTimeout = 600_000;
server.listen(Number(PORT), POD_IP);

// As a well-behaved server does it: what has been asked is answered, then the end.
function stop() {
  const left = asked + Number(LINGER) - Date.now();
  if (left > 0) {
    setTimeout(stop, left);
    return;
  }
  server.close(() => process.exit(0));
  server.closeIdleConnections();
}

process.once("SIGTERM", () => {
  asked = Date.now();
  stop();
});
