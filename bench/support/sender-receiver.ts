/** Receivers in a process of their own: one that answers at once, and any number that never do. Prints their ports. */
import { createServer } from "node:http";
import { type AddressInfo, createServer as createTcpServer, type Server } from "node:net";

const silent = Number(process.argv[2] ?? 0);

const listen = (server: Server): Promise<number> =>
  new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port));
  });

const live = createServer((request, response) => {
  request.resume();
  request.on("end", () => response.end());
});
live.keepAliveTimeout = 60_000;
const ports = [await listen(live)];
for (let index = 0; index < silent; index++) {
  ports.push(await listen(createTcpServer((socket) => socket.on("error", () => undefined).resume())));
}
process.stdout.write(`${JSON.stringify(ports)}\n`);
