/** Many connections that each send one request after the other, as cheaply as a client can. */
import { connect, type Socket } from "node:net";
import { ROUTE, type SignedEvent } from "./receiver-events.js";

export interface LoadResult {
  readonly perSecond: number;
  /** Milliseconds from the first byte sent to the answer, sorted. */
  readonly latencies: Float64Array;
}

const bytesOf = ({ headers, body }: SignedEvent): Buffer => {
  const fields = Object.entries({ ...headers, "content-length": String(body.length) });
  const head = [`POST ${ROUTE} HTTP/1.1`, ...fields.map(([name, value]) => `${name}: ${value}`)].join("\r\n");
  return Buffer.concat([Buffer.from(`${head}\r\n\r\n`), body]);
};

/**
 * Sends every event once over `connections` connections.
 * @throws Error at the first answer that is not 200
 */
export async function drive(port: number, events: readonly SignedEvent[], connections: number): Promise<LoadResult> {
  const requests = events.map(bytesOf);
  const latencies = new Float64Array(requests.length);
  const sockets = await Promise.all(Array.from({ length: connections }, () => open(port)));
  let next = 0;
  const started = performance.now();
  await Promise.all(
    sockets.map(async (socket) => {
      while (next < requests.length) {
        const at = next++;
        const sent = performance.now();
        await exchange(socket, requests[at]!);
        latencies[at] = performance.now() - sent;
      }
    }),
  );
  const seconds = (performance.now() - started) / 1000;
  for (const socket of sockets) socket.destroy();
  return { perSecond: requests.length / seconds, latencies: latencies.sort() };
}

const open = (port: number): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => resolve(socket)).setNoDelay(true);
    socket.on("error", reject);
  });

/** One request and its answer; both servers answer small bodies in one piece. */
const exchange = (socket: Socket, request: Buffer): Promise<void> =>
  new Promise((resolve, reject) => {
    let text = "";
    const take = (chunk: Buffer): void => {
      text += chunk.toString("latin1");
      const end = text.indexOf("\r\n\r\n");
      if (end < 0) return;
      const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0);
      if (text.length < end + 4 + length) return;
      socket.off("data", take);
      if (text.startsWith("HTTP/1.1 200")) resolve();
      else reject(new Error(text));
    };
    socket.on("data", take);
    socket.write(request);
  });
