/** `adbind deliver`: a process that delivers what waits in the outboxes of databases, beside as many others as there are. */
import type { Command } from "commander";
import { pino } from "pino";
import { type Metrics, openMetrics } from "../runtime/behaviours/metrics.js";
import type { Release } from "../runtime/contract/index.js";
import { openDatabase } from "../runtime/db/open.js";
import { isDatabaseUrl } from "../runtime/db/urls.js";
import { AdbindError } from "../runtime/errors.js";
import { natsQueue, type OpenQueue } from "../runtime/queue/index.js";
import { secretKeysIn } from "../runtime/sender/secret-keys.js";
import { type PrincipalStore, shardedByPrincipal } from "../runtime/store/index.js";
import { releaseForPeers } from "./check/release-value.js";
import { type DeliveredDatabases, deliverFrom, type OpenDelivered } from "./deliver-databases.js";
import { type DeliverHealth, serveDeliverHealth } from "./deliver-health.js";
import { signingKey } from "./key-file.js";
import { portNumber } from "./listening.js";
import { plural, userPath, wholeNumber } from "./output.js";
import { peersRelease, type ReleaseOptions, releaseHelp, withReleaseOptions } from "./release/resolve.js";
import { splitInEnvironment } from "./split.js";
import { openNamedStore, placeOfNamed } from "./store.js";
import { wordOfKeys } from "./webhook-word.js";

interface DeliverOptions extends ReleaseOptions {
  queue?: string;
  replicas: string;
  database: string[];
  key?: string;
  kid?: string;
  keys?: string;
  release: string[];
  agentUrl?: string;
  concurrency: string;
  healthPort?: string;
  host: string;
  local?: boolean;
  logLevel: string;
}

const usage = (what: string, remedy: string): AdbindError => new AdbindError("usage", what, { remedy });

/** URLs in the environment are apart by blanks; a path of a file may have some within. */
function urlsIn(text: string): string[] {
  const urls: string[] = [];
  for (const word of text.trim().split(/(?<=\s)(?=\S)/))
    if (urls.length === 0 || isDatabaseUrl(word)) urls.push(word);
    else urls.push(urls.pop() + word);
  return urls.map((url) => url.trimEnd());
}

/** Of many databases each has its own sender; those of the environment, where none is named. */
function databasesOf({ database }: DeliverOptions): string[] {
  if (database.length > 0) return database;
  const { ADBIND_STORE } = process.env;
  if (ADBIND_STORE !== undefined && ADBIND_STORE.trim() !== "") return urlsIn(ADBIND_STORE);
  throw usage(
    "no database is named",
    "give --database <url>, or set ADBIND_STORE: events, where they go and their secrets are looked up there",
  );
}

/** @throws AdbindError `queue_option_invalid` */
const queueOf = ({ queue, replicas }: DeliverOptions): OpenQueue | undefined =>
  queue === undefined
    ? undefined
    : natsQueue({ servers: queue, replicas: wholeNumber(replicas, "number of replicas", "give 1, 3 or 5") });

/** A split that the environment names, where no database is. */
async function splitStore({ database }: DeliverOptions): Promise<PrincipalStore | undefined> {
  const named = database.length > 0 ? [] : splitInEnvironment();
  if (named.length === 0) return undefined;
  return shardedByPrincipal(
    named.map(([name, url]) => ({
      name,
      database: () => openDatabase(placeOfNamed(url), { access: "change" }),
    })),
  );
}

/** What opens the databases that the command line or the environment names. */
async function opensOf(options: DeliverOptions): Promise<OpenDelivered[]> {
  const split = await splitStore(options);
  if (split !== undefined) return [async () => split];
  return databasesOf(options).map((place) => () => openNamedStore(place, "change"));
}

/** A signature under another protocol's word is refused by every receiver, and that for a day before anybody is told. */
function assertWord(key: object, releases: readonly Release[]): void {
  const word = wordOfKeys([key]);
  const other = releases.find((release) => word !== undefined && release.word !== word);
  if (other === undefined) return;
  throw usage(
    `the key is for ${word}, and what is delivered is of ${other.word} ${other.version}`,
    `give --release with a release of ${word}, or the key that its webhooks are signed with`,
  );
}

/** What senders are made of, whatever the database. */
async function senderOptions(
  options: DeliverOptions,
  metrics: Metrics | undefined,
): Promise<Parameters<typeof deliverFrom>[1]> {
  if (options.key === undefined)
    throw usage("nothing to sign with", "give --key <file>, as adbind keys generate writes it");
  const { kid, ...key } = signingKey(userPath(options.key), options.kid);
  const queue = queueOf(options);
  const asked = options.release.length === 0 ? [undefined] : options.release;
  const [release, ...releases] = await Promise.all(asked.map((one) => releaseForPeers(one, options)));
  assertWord({ ...key, kid }, [release!, ...releases]);
  const concurrency = wholeNumber(options.concurrency, "number of attempts", "give 1 or more");
  return {
    release: release!,
    releases,
    logger: pino({ name: "adbind-deliver", level: options.logLevel }, pino.destination(2)),
    signer: { key: { ...key, kid }, keyid: kid },
    worker: { concurrency },
    ...(metrics !== undefined && { meter: metrics.meter }),
    ...(queue !== undefined && { queue }),
    ...(options.keys !== undefined && { secrets: secretKeysIn(userPath(options.keys)) }),
    ...(options.agentUrl !== undefined && { agentUrl: options.agentUrl }),
    ...(options.local && { net: { allowHttp: true, allowLoopback: true } }),
  };
}

async function healthServed(
  { healthPort, host }: DeliverOptions,
  databases: DeliveredDatabases,
  metrics: Metrics | undefined,
): Promise<DeliverHealth | undefined> {
  if (metrics === undefined) return undefined;
  const port = portNumber(healthPort!);
  const served = await serveDeliverHealth({
    answering: () => databases.answering(),
    ...{ metrics, host, port },
  });
  console.log(`health at ${served.address}/healthz, /readyz and /metrics`);
  return served;
}

/** From now on whoever ends the process is listened for. @returns waits until somebody has */
function interruption(): () => Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  for (const name of ["SIGINT", "SIGTERM"] as const) process.once(name, () => resolve());
  return () => promise;
}

async function deliver(options: DeliverOptions): Promise<void> {
  const metrics = options.healthPort === undefined ? undefined : await openMetrics();
  const common = await senderOptions(options, metrics);
  const opens = await opensOf(options);
  // From now on there is something to put in order before the end.
  const interrupted = interruption();
  let databases: DeliveredDatabases | undefined;
  let health: DeliverHealth | undefined;
  try {
    databases = await deliverFrom(opens, common);
    health = await healthServed(options, databases, metrics);
    const by = options.queue === undefined ? "" : ", handed out by NATS";
    const count = (await databases.answering()).length;
    console.log(`delivering what waits in ${plural(count, "database")}${by}; Ctrl-C ends it`);
    await interrupted();
  } finally {
    health?.drain();
    await databases?.stop();
    await health?.close();
    await metrics?.stop();
  }
}

const collect = (value: string, before: string[]): string[] => [...before, value];

export function register(command: Command): void {
  withReleaseOptions(command)
    .option("--queue <servers>", "nats://host:4222, several with commas between: a stream there hands events out")
    .option("--replicas <n>", "servers that keep each ticket of the stream: 3, or 1 for one that stands alone", "3")
    .option("--database <url>", "whose events: postgres://user@host/database; may be given several times", collect, [])
    .option("--key <file>", "private file of adbind keys generate, to sign with")
    .option("--kid <name>", "which of its keys; default the newest")
    .option("--keys <file>", "keys of secrets; by default what ADBIND_SECRET_KEYS_FILE or ADBIND_SECRET_KEYS names")
    .option(
      "--release <release>",
      `what is served: ${releaseHelp}; several, the usual one first; ${peersRelease}`,
      collect,
      [],
    )
    .option("--agent-url <url>", "who sends, as challenges of notification configs name it")
    .option("--concurrency <n>", "attempts at once, for each database", "1024")
    .option("--health-port <n>", "answers /healthz, /readyz and /metrics there; 0 is any that is free")
    .option("--host <address>", "address of --health-port; 0.0.0.0 is every one", "127.0.0.1")
    .option("--local", "plain http and this machine are allowed")
    .option("--log-level <level>", "fatal, error, warn, info or silent", "info")
    .addHelpText(
      "after",
      `
Any number of these share the work; each that is killed is made up for by the others. Without --queue they lease from the
database itself, which may be sqlite:<path> then. The database is that of the application, or the one that another
language fills by adbind_enqueue; registrations and their secrets are looked up there for each attempt. ADBIND_STORE may name
several, with blanks between: a password on the command line is in everybody's list of processes. One of several that is
away keeps no other's events, and is opened when it is back. Databases that are split
by principal are given by ADBIND_SPLIT, as to adbind split.

Example: adbind deliver --queue nats://a:4222,nats://b:4222,nats://c:4222 --database postgres://deliver@db/shop --key keys.private.json`,
    )
    .action(deliver);
}
