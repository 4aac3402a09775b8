// A pod: says who it is. Env: POD_NAME, POD_IP, PORT; VERSION is repeated in the answer; the header x-id of a POST is logged.
// LINGER: milliseconds without a request after which connections are closed, once its end has come; 0: idle ones at once.
import { createServer } from "node:http";
import { Server } from "node:net";

const { POD_NAME, POD_IP, PORT = "8080", VERSION = "", LINGER = "0" } = process.env;
let ending = false;
let asked = 0;
const server = createServer((request, response) => {
  request.resume();
  asked = Date.now();
  if (request.method === "POST") console.log(`POST ${request.headers["x-id"]}`);
  const close = ending ? { connection: "close" } : {};
  response.writeHead(200, { "content-type": "application/json", "x-version": VERSION, ...close });
  response.end(JSON.stringify({ pod: POD_NAME, version: VERSION, uri: request.url, headers: request.headers }));
});
server.keepAliveTimeout = 600_000;
server.listen(Number(PORT), POD_IP);

function closeWhenQuiet() {
  const left = asked + Number(LINGER) - Date.now();
  if (left > 0) setTimeout(closeWhenQuiet, left);
  else server.closeIdleConnections();
}

// As a well-behaved server does it: no new connections, what has been asked is answered, then the end.
process.once("SIGTERM", () => {
  ending = true;
  asked = Date.now();
  if (Number(LINGER) === 0) {
    server.close(() => process.exit(0));
    return;
  }
  // close() of the HTTP server would close idle connections as well.
  Server.prototype.close.call(server, () => process.exit(0));
  closeWhenQuiet();
});
