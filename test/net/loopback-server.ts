/** Servers on loopback and a guarded fetch that may reach them, closed after each test. */
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo, Server } from "node:net";
import {
  createGuardedFetch,
  type FetchResult,
  type GuardedFetch,
  type GuardedFetchOptions,
} from "../../runtime/net/index.js";

export const cleanups: (() => void | Promise<void>)[] = [];
export const cleanUp = async (): Promise<void> => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
};

export const listen = async (server: Server, address = "127.0.0.1", port = 0): Promise<number> => {
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(port, address, resolve));
  cleanups.push(() => {
    (server as Server & { closeAllConnections?: () => void }).closeAllConnections?.();
    server.close();
  });
  return (server.address() as AddressInfo).port;
};

export const serve = (listener: RequestListener, address?: string, port?: number) =>
  listen(createServer(listener), address, port);

export const guardedFetch = (options: GuardedFetchOptions = {}): GuardedFetch => {
  const guarded = createGuardedFetch({
    allowHttp: true,
    allowLoopback: true,
    lookup: async () => [{ address: "127.0.0.1", family: 4 }],
    ...options,
  });
  cleanups.push(() => guarded.close());
  return guarded;
};

export const codeOf = (result: FetchResult): string => (result.ok ? `status ${result.status}` : result.code);
export const textOf = (result: FetchResult): string => (result.ok ? Buffer.from(result.body).toString() : result.code);
