/**
 * A receiver as a container runs it: settings from the environment, probes, and an end that loses nothing. What is yours are
 * the handlers, and whose webhooks are taken.
 */
import { readFileSync } from "node:fs";
import { openDatabase } from "adbind/db";
import { createReceiver, webhookReceiver } from "adbind/receiver";
import { agentKeys } from "adbind/signing/discovery";
import { openStore, type ReceiverStore, shardedBySender } from "adbind/store";
import { fastify } from "fastify";
import { pino } from "pino";
import { release } from "#bindings";

const {
  ADBIND_STORE = "sqlite:receiver.db",
  ADBIND_SPLIT,
  PUBLIC_URL,
  SELLERS,
  MIGRATE,
  HOST = "127.0.0.1",
} = process.env;
const { PORT = "8080", DRAIN_SECONDS = "5" } = process.env;
if (PUBLIC_URL === undefined) throw new Error("PUBLIC_URL is not set: senders sign the URL that they call");
/** Agents whose webhooks are taken, by URL: a JSON list of them. */
const sellers = JSON.parse(SELLERS === undefined ? "[]" : readFileSync(SELLERS, "utf8")) as string[];
/** Milliseconds that handlers have to end in, after which what they did not finish is another instance's. */
const STOP_MS = 15_000;

const logger = pino();
const migrate = MIGRATE !== "false";

/** The store, and whether it can be worked with now. */
interface Opened {
  readonly store: ReceiverStore<unknown>;
  ready(): Promise<boolean>;
}

async function one(url: string): Promise<Opened> {
  const store = await openStore(url, { migrate });
  const asked = () => store.database.query((query) => query.rows("select 1 as one"));
  const ready = () =>
    asked().then(
      () => true,
      () => false,
    );
  return { store, ready };
}

/** @param text `name=url` of each database, parted by blanks, as `adbind split` takes it */
async function several(text: string): Promise<Opened> {
  const databases = text
    .trim()
    .split(/\s+/)
    .map((each) => {
      const [name = "", ...url] = each.split("=");
      return { name, database: () => openDatabase(url.join("="), { migrate }) };
    });
  const store = await shardedBySender(databases);
  // Senders of a database that is away are answered 503; the others go on.
  return { store, ready: async () => store.databases().some(({ reachable }) => reachable) };
}

const { store, ready } = await (ADBIND_SPLIT === undefined ? one(ADBIND_STORE) : several(ADBIND_SPLIT));
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
  if (!draining && (await ready())) return { status: "ok" };
  return reply.code(503).send({ status: "unavailable", reason: draining ? "it ends" : "no database answers" });
});
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void stop());
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
