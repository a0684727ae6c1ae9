/** What keeps a seller running asks: is the process alive, and can it work? */
import type { Database } from "../db/types.js";
import type { Seller } from "../seller/create.js";
import type { SellerStore } from "../seller/types.js";
import type { AnyStore, PrincipalStore } from "../store/index.js";

/** How long the database may take to answer, in milliseconds; probes give up after a second or two. */
const READY_MS = 1_000;

type Asked = Pick<Database, "query">;

/** Of several databases one is enough: while another is away, all whose state is not there are served. */
function anyOf(store: Pick<AnyStore, "database"> | PrincipalStore): Asked {
  if (!("principals" in store)) return store.database as Database;
  const members = [...store.principals.members.values()];
  return { query: (work) => Promise.any(members.map((member) => member.use((_, database) => database.query(work)))) };
}

/** @returns false when the database, or each of several, fails, or has not answered within a second */
export async function databaseAnswers(store: Pick<AnyStore, "database"> | PrincipalStore): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), READY_MS);
  });
  const asked = anyOf(store)
    .query((q) => q.rows("select 1 as one"))
    .then(
      () => true,
      () => false,
    );
  const answered = await Promise.race([asked, late]);
  clearTimeout(timer);
  return answered;
}

export function healthRoutes(app: Seller["app"], store: SellerStore): void {
  app.get("/healthz", async () => ({ status: "ok" }));
  app.get("/readyz", async (_, reply) =>
    (await databaseAnswers(store))
      ? { status: "ok" }
      : reply.code(503).send({ status: "unavailable", reason: "the database does not answer" }),
  );
}
