/** Servers that answer over TCP and UDP with the address at which they were asked, and clients that ask. */

import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";
import { connect, createServer, type Server } from "node:net";

export interface StreamPods {
  readonly port: number;
  stop(): void;
}

/** TCP on every address of the machine or on one, UDP on those given, all on one port. */
export async function startStreamPods(port: number, udpAddresses: readonly string[], tcpAddress = "::"): Promise<StreamPods> {
  const server: Server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.end((socket.localAddress ?? "").replace("::ffff:", ""));
  });
  server.listen(port, tcpAddress);
  await once(server, "listening");
  const sockets: Socket[] = [];
  for (const address of udpAddresses) {
    const socket = createSocket("udp4");
    socket.on("message", (_, from) => socket.send(address, from.port, from.address));
    socket.bind(port, address);
    await once(socket, "listening");
    sockets.push(socket);
  }
  return {
    port,
    stop: () => {
      server.close();
      for (const socket of sockets) socket.close();
    },
  };
}

/** What a new connection brings until it ends; empty when it is closed at once or refused. */
export function askTcp(port: number): Promise<string> {
  return new Promise((resolve) => {
    let text = "";
    const socket = connect(port, "127.0.0.1");
    socket.on("data", (chunk) => {
      text += chunk.toString();
    });
    socket.on("error", () => undefined);
    socket.on("close", () => resolve(text));
  });
}

/** The answer to a datagram, sent again and again until there is one. */
export async function askUdp(port: number): Promise<string> {
  const socket = createSocket("udp4");
  const answer = once(socket, "message");
  const send = (): void => socket.send("who are you", port, "127.0.0.1");
  const again = setInterval(send, 500);
  send();
  const [message] = (await answer) as [Buffer];
  clearInterval(again);
  socket.close();
  return message.toString();
}
