/** Stands in for the service of an ad manager: orders and line items over HTTP, with no idempotency keys. It loses every third answer. */
import { randomUUID } from "node:crypto";
import { fastify } from "fastify";

interface Order {
  readonly id: string;
  readonly externalId: string;
  status: "APPROVED" | "PAUSED" | "CANCELED";
  lineItems: { externalId: string; costMicros: number; impressions: number }[];
}

export async function startService(token: string) {
  const orders = new Map<string, Order>();
  const app = fastify({ forceCloseConnections: true });
  let answers = 0;
  app.addHook("onRequest", async (request, reply) => {
    if (request.headers.authorization !== `Bearer ${token}`) return reply.code(401).send({ error: "UNAUTHENTICATED" });
  });
  app.addHook("onSend", async (request, reply) => {
    // What was asked is done; the connection breaks before its caller knows.
    if (request.method !== "GET" && ++answers % 3 === 1) {
      reply.hijack();
      request.raw.socket.destroy();
    }
  });
  app.get<{ Querystring: { externalId?: string } }>("/orders", async ({ query }) => ({
    orders: [...orders.values()].filter(({ externalId }) => externalId === query.externalId),
  }));
  app.post<{ Body: Omit<Order, "id" | "status"> }>("/orders", async ({ body }, reply) => {
    const spend = body.lineItems.reduce((sum, { costMicros }) => sum + costMicros, 0);
    if (spend > 1e12) return reply.code(422).send({ error: "NOT_ENOUGH_INVENTORY" });
    const order = { id: randomUUID(), status: "APPROVED", ...body } as const;
    orders.set(order.id, { ...order });
    return order;
  });
  app.patch<{ Params: { id: string }; Body: Partial<Order> }>("/orders/:id", async ({ params, body }) =>
    Object.assign(orders.get(params.id)!, body),
  );
  app.get<{ Params: { id: string } }>("/orders/:id/report", async ({ params }) => ({
    rows: orders
      .get(params.id)!
      .lineItems.map(({ externalId, impressions }) => ({ externalId, impressions, clicks: 0 })),
  }));
  return {
    url: await app.listen({ port: 0, host: "127.0.0.1" }),
    orders: () => [...orders.values()],
    close: () => app.close(),
  };
}
