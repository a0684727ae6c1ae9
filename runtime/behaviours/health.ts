/** What keeps a seller running asks: is the process alive, and can it work? */
import type { Seller } from "../seller/create.js";
import type { AnyStore } from "../store/index.js";

/** How long the database may take to answer, in milliseconds; probes give up after a second or two. */
const READY_MS = 1_000;

/** @returns false when the database fails, or has not answered within a second */
export async function databaseAnswers({ database }: Pick<AnyStore, "database">): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), READY_MS);
  });
  const asked = database
    .query((q) => q.rows("select 1 as one"))
    .then(
      () => true,
      () => false,
    );
  const answered = await Promise.race([asked, late]);
  clearTimeout(timer);
  return answered;
}

export function healthRoutes(app: Seller["app"], store: AnyStore): void {
  app.get("/healthz", async () => ({ status: "ok" }));
  app.get("/readyz", async (_, reply) =>
    (await databaseAnswers(store))
      ? { status: "ok" }
      : reply.code(503).send({ status: "unavailable", reason: "the database does not answer" }),
  );
}
