/** An ad server that counts what it is told, loses answers, answers late, and refuses what cannot be had. */
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { Order } from "../../runtime/behaviours/index.js";

/** How long it takes when it is slow, in milliseconds; sellers wait less. */
const SLOW_MS = 500;
/** A budget that it has no room for. */
export const SOLD_OUT = 6_660;

export interface DoubledOrder {
  readonly orderId: string;
  /** The key it was booked under. */
  readonly key: string;
  /** As it was last told. */
  order: Order;
  state: "running" | "paused" | "canceled";
}

export interface AdServerDouble {
  readonly url: string;
  readonly orders: ReadonlyMap<string, DoubledOrder>;
  /** Requests that arrived. */
  calls(): number;
  /** Answers that were not given. */
  lost(): number;
  /** From now on it answers everything at once. */
  calm(): void;
  stop(): Promise<void>;
}

interface Command {
  readonly kind: "book" | "change" | "pause" | "resume" | "cancel";
  readonly key: string;
  readonly orderId?: string;
  readonly order: Order;
}

/** @param random 0 to 1 */
export async function adServerDouble(random: () => number = Math.random): Promise<AdServerDouble> {
  const orders = new Map<string, DoubledOrder>();
  const answers = new Map<string, { status: number; body: object }>();
  let [calls, lost, isCalm] = [0, 0, false];
  const act = ({ kind, key, orderId, order }: Command): { status: number; body: object } => {
    if (order.lines.some(({ budget }) => budget === SOLD_OUT)) return { status: 409, body: { reason: "sold out" } };
    if (kind === "book") {
      const made = { orderId: `order-${orders.size + 1}`, key, order, state: "running" } as const;
      orders.set(made.orderId, { ...made });
      return { status: 200, body: { orderId: made.orderId } };
    }
    const found = orders.get(orderId ?? "");
    if (found === undefined) return { status: 404, body: { reason: `no order ${orderId}` } };
    found.order = order;
    if (kind === "cancel") found.state = "canceled";
    else if (kind !== "change") found.state = kind === "pause" ? "paused" : "running";
    return { status: 200, body: {} };
  };
  const server = createServer(async (request, response) => {
    const told = await bodyOf(request);
    calls += 1;
    const luck = isCalm ? 1 : random();
    const lose = (): void => {
      lost += 1;
      response.destroy();
    };
    if (luck < 0.1) return lose();
    if (luck < 0.15) await sleep(SLOW_MS);
    // What was done under a key is answered, and not done again.
    const answer = answers.get(told.key) ?? act(told);
    answers.set(told.key, answer);
    if (luck < 0.3) return lose();
    if (luck < 0.4) await sleep(SLOW_MS);
    if (luck < 0.45) return response.writeHead(503).end();
    response.writeHead(answer.status, { "content-type": "application/json" }).end(JSON.stringify(answer.body));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    orders,
    calls: () => calls,
    lost: () => lost,
    calm() {
      isCalm = true;
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function bodyOf(request: IncomingMessage): Promise<Command> {
  let text = "";
  for await (const chunk of request) text += chunk;
  return JSON.parse(text) as Command;
}
