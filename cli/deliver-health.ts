/** What keeps deliverers running asks: does the process live, can it work, and what waits? */
import { createServer } from "node:http";
import type { Metrics } from "../runtime/behaviours/metrics.js";
import { listenAt } from "./listening.js";

export interface DeliverHealthOptions {
  /** For each database whether it answers. */
  readonly answering: () => Promise<readonly boolean[]>;
  readonly metrics: Pick<Metrics, "read">;
  readonly host: string;
  /** 0 is any that is free. */
  readonly port: number;
}

export interface DeliverHealth {
  readonly address: string;
  /** From now on `/readyz` says no. */
  drain(): void;
  close(): Promise<void>;
}

/** Milliseconds a caller has to send its request. */
const REQUEST_MS = 10_000;

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly text: string;
}

const json = (status: number, value: object): Answer => ({
  status,
  type: "application/json; charset=utf-8",
  text: JSON.stringify(value),
});

/** Ready with one database of several: what waits in the others is nobody's gain when this one is not worked for. */
async function readiness(answering: DeliverHealthOptions["answering"]): Promise<Answer> {
  const all = await answering();
  const away = all.filter((one) => !one).length;
  if (away < all.length) return json(200, { status: "ok", databases: all.length, away });
  return json(503, { status: "unavailable", reason: "no database answers" });
}

/**
 * Answers `/healthz`, `/readyz` and `/metrics` (Prometheus' text). It names no event, endpoint or database; let nobody else
 * than what runs the process reach the port.
 *
 * @throws AdbindError `address_unusable`
 */
export async function serveDeliverHealth({
  answering,
  metrics,
  host,
  port,
}: DeliverHealthOptions): Promise<DeliverHealth> {
  let draining = false;
  const answer = async (path: string): Promise<Answer> => {
    if (path === "/healthz") return json(200, { status: "ok" });
    if (path === "/metrics")
      return { status: 200, type: "text/plain; version=0.0.4; charset=utf-8", text: await metrics.read() };
    if (path !== "/readyz") return json(404, { status: "not found" });
    return draining ? json(503, { status: "unavailable", reason: "it ends" }) : readiness(answering);
  };
  const server = createServer({ requestTimeout: REQUEST_MS }, (request, response) => {
    request.resume();
    const send = ({ status, type, text }: Answer): void => {
      response.writeHead(status, { "content-type": type }).end(text);
    };
    answer(new URL(request.url ?? "/", "http://deliverer.invalid").pathname).then(send, () =>
      send(json(500, { status: "failed" })),
    );
  });
  return {
    address: await listenAt(server, host, port),
    drain() {
      draining = true;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
