// A pod: says who it is. Env: POD_NAME, POD_IP, PORT; VERSION is repeated in the answer.
import { createServer } from "node:http";

const { POD_NAME, POD_IP, PORT = "8080", VERSION = "" } = process.env;
const server = createServer((request, response) => {
  request.resume();
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify({ pod: POD_NAME, version: VERSION, uri: request.url, headers: request.headers }));
});
server.keepAliveTimeout = 600_000;
server.listen(Number(PORT), POD_IP);
// As a well-behaved server does it: what has been asked is answered, then the end.
process.once("SIGTERM", () => {
  server.close(() => process.exit(0));
  server.closeIdleConnections();
});
