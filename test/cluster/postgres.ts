/**
 * `./run cluster postgres [--minutes N] [--asynchronous]`: three PostgreSQL under Patroni, one etcd, HAProxy in front, on
 * loopback, until Ctrl-C, the time is over or who started it is gone; nothing of it is left then.
 */
import { positive, script } from "../../cli/script.js";
import { prepareCluster, runsAs } from "./cluster-programs.js";
import { startHaPostgres } from "./ha-postgres.js";

const { minutes, asynchronous = false } = script("cluster postgres", "a PostgreSQL whose primary may die")
  .option("--minutes <n>", "how long", positive, 60)
  .option("--asynchronous", "commits are answered before a second node has them")
  .parse()
  .opts<{ readonly minutes: number; readonly asynchronous?: true }>();

/** Between two looks whether who started this is still there, in milliseconds. */
const PARENT_MS = 500;

async function main(): Promise<void> {
  const parent = process.ppid;
  const programs = prepareCluster();
  const as = runsAs();
  if (typeof programs === "string") return console.log(`skipped: there is no cluster, because ${programs}`);
  if (typeof as === "string") return console.log(`skipped: there is no cluster, because ${as}`);
  const over = Promise.withResolvers<void>();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => over.resolve());
  const begun = performance.now();
  const cluster = await startHaPostgres({ programs, as, synchronous: !asynchronous });
  const seconds = ((performance.now() - begun) / 1_000).toFixed(1);
  const { url, directUrl, nodes, folder } = cluster;
  console.log(`Three PostgreSQL ${asynchronous ? "" : "with synchronous replication "}are up after ${seconds} s:`);
  console.log(`   the primary, through HAProxy  ${url}`);
  console.log(`   the nodes themselves          ${directUrl}`);
  for (const { name, restPort } of nodes)
    console.log(`   ${name}                        http://127.0.0.1:${restPort}/cluster`);
  console.log(`   logs                          ${folder}/*.log`);
  console.log(`Until Ctrl-C, or for ${minutes} minutes.`);
  const timer = setTimeout(over.resolve, minutes * 60_000);
  const orphaned = setInterval(() => process.ppid !== parent && over.resolve(), PARENT_MS);
  await over.promise;
  clearTimeout(timer);
  clearInterval(orphaned);
  await cluster.stop();
  console.log("It is gone, with all that was in it.");
}

await main();
