/** The controller's unix sockets: what a worker has gathered goes there, and one line comes back. */

let deliveries = 0;

/**
 * The controller may have taken what it did not answer in time: sent again, a delivery has the name that it had. It is no
 * other worker's, not even one's from before with the same pid.
 */
function deliveryName(): string {
  deliveries += 1;
  return `${ngx.worker.pid()} ${ngx.now()} ${deliveries}`;
}

/** `send` writes and says what went wrong. The line, or why there is none. In a timer. */
function tellController(
  path: string,
  send: (this: void, socket: TcpSocket) => string | undefined,
): LuaMultiReturn<[answer: string | undefined, problem: string | undefined]> {
  const socket = ngx.socket.tcp();
  socket.settimeouts(1000, 5000, 5000);
  const [connected, refusal] = socket.connect(`unix:${path}`);
  if (connected === undefined) {
    return $multi(undefined, refusal ?? "no connection");
  }
  const problem = send(socket);
  if (problem !== undefined) {
    socket.close();
    return $multi(undefined, problem);
  }
  const [answer, silence] = socket.receive("*l");
  socket.close();
  return $multi(answer, answer === undefined ? (silence ?? "no answer") : undefined);
}

export { deliveryName, tellController };
