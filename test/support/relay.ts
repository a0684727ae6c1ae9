/** A way to a server that can be frozen or broken, as a machine or a network would. */

import type { AddressInfo } from "node:net";
import { connect, createServer, type Socket } from "node:net";

export interface Relay {
  readonly port: number;
  /** Passes nothing on, and keeps every connection: as a process under SIGSTOP, or a network that swallows packets. */
  freeze(): void;
  thaw(): void;
  /** Breaks what is connected. */
  cut(): void;
  close(): Promise<void>;
}

/**
 * @param port of the server on loopback
 * @param change what becomes of the first bytes that a client sends
 */
export async function startRelay(port: number, change: (first: Buffer) => Buffer = (first) => first): Promise<Relay> {
  const sockets = new Set<Socket>();
  let frozen = false;
  const server = createServer((client) => {
    const upstream = connect(port, "127.0.0.1");
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(one);
      if (frozen) one.pause();
      let first = one === client;
      one.on("data", (chunk: Buffer) => {
        other.write(first ? change(chunk) : chunk);
        first = false;
      });
      one.on("end", () => other.end());
      one.on("error", () => other.destroy());
      one.on("close", () => {
        sockets.delete(one);
        if (!frozen) other.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    freeze() {
      frozen = true;
      for (const one of sockets) one.pause();
    },
    thaw() {
      frozen = false;
      for (const one of sockets) one.resume();
    },
    cut() {
      for (const one of sockets) one.resetAndDestroy();
    },
    async close() {
      for (const one of sockets) one.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
