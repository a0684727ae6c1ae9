/** What keeps a seller running asks: is the process alive, and can it work? */
import type { Seller } from "../seller/create.js";
import type { AnyStore } from "../store/index.js";

/** How long the database may take to answer, in milliseconds; probes give up after a second or two. */
const READY_MS = 1_000;

export function healthRoutes(app: Seller["app"], store: AnyStore): void {
  app.get("/healthz", async () => ({ status: "ok" }));
  app.get("/readyz", async (_, reply) => {
    const late = new Promise<never>((_resolve, reject) => {
      setTimeout(() => reject(new Error("the database does not answer")), READY_MS).unref();
    });
    try {
      await Promise.race([store.database.query((q) => q.rows("select 1 as one")), late]);
      return { status: "ok" };
    } catch {
      return reply.code(503).send({ status: "unavailable", reason: "the database does not answer" });
    }
  });
}
