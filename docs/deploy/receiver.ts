/**
 * A receiver as a container runs it: settings from the environment, probes, and an end that loses nothing. What is yours are
 * the handlers, and whose webhooks are taken.
 */
import { readFileSync } from "node:fs";
import { createReceiver, webhookReceiver } from "adbind/receiver";
import { agentKeys } from "adbind/signing/discovery";
import { openStore, type Store } from "adbind/store";
import { fastify } from "fastify";
import { pino } from "pino";
import { release } from "#bindings";

const { ADBIND_STORE = "sqlite:receiver.db", PUBLIC_URL, SELLERS, MIGRATE, HOST = "127.0.0.1" } = process.env;
const { PORT = "8080", DRAIN_SECONDS = "5" } = process.env;
if (PUBLIC_URL === undefined) throw new Error("PUBLIC_URL is not set: senders sign the URL that they call");
/** Agents whose webhooks are taken, by URL: a JSON list of them. */
const sellers = JSON.parse(SELLERS === undefined ? "[]" : readFileSync(SELLERS, "utf8")) as string[];
/** Milliseconds that handlers have to end in, after which what they did not finish is another instance's. */
const STOP_MS = 15_000;

const logger = pino();
/** Whichever it is: effects that write to it in their event's transaction want a store of one engine. */
const store: Store<unknown> = await openStore(ADBIND_STORE, { migrate: MIGRATE !== "false" });
const receiver = createReceiver({
  store,
  release,
  publicUrl: PUBLIC_URL,
  logger,
  senders: Object.fromEntries(sellers.map((seller) => [seller, { keys: agentKeys }])),
  handlers: {
    fallback: ({ kind, taskType }) => logger.info({ kind, taskType }, "nobody handles this"),
  },
});
receiver.start();

let draining = false;
const app = fastify();
await app.register(webhookReceiver, { receiver, paths: ["/webhooks/*"] });
app.get("/healthz", async () => ({ status: "ok" }));
app.get("/readyz", async (_, reply) => {
  if (draining) return reply.code(503).send({ status: "unavailable", reason: "it ends" });
  try {
    await store.database.query((query) => query.rows("select 1 as one"));
    return { status: "ok" };
  } catch {
    return reply.code(503).send({ status: "unavailable", reason: "the database does not answer" });
  }
});
await app.listen({ host: HOST, port: Number(PORT) });
logger.info({ host: HOST, port: PORT }, "webhooks are received");

/** Proxies learn that it ends before it does; then what is under way is answered, and handlers end. */
async function stop(): Promise<void> {
  draining = true;
  await new Promise((resolve) => setTimeout(resolve, Number(DRAIN_SECONDS) * 1_000));
  await app.close();
  await receiver.stop({ withinMs: STOP_MS });
  await store.close();
}
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void stop());
