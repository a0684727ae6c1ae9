/** Kills senders in the middle of deliveries, then counts what reached whom. */
import { type ChildProcess, spawn } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fromSource } from "../runner/from-source.js";
import { checkOrder, comebacks, type Made, settledKeys } from "./sender-books.js";
import { type Books, type FaultsOptions, openBooks } from "./sender-ground.js";
import { type Loss, Receivers } from "./sender-receivers.js";
import { type Outage, serversDying } from "./sender-servers.js";
import { Changer, type ChangerBooks } from "./split-changer.js";

export interface Ledger {
  readonly engine: string;
  readonly kills: number;
  /** Times that a server of those that hand events out was killed. */
  readonly servers: number;
  readonly tasks: number;
  readonly events: number;
  readonly attempts: number;
  readonly delivered: number;
  readonly dead: number;
  /** Never attempted for a week, for the receiver that is never there again. */
  readonly expired: number;
  /** Of a split: kills of the command among the kills, and how often a database was added or removed to the end. */
  readonly commandKills: number;
  readonly changes: number;
  /** Times that PostgreSQL was restarted. */
  readonly restarts: number;
  /** Accepted once more than needed, and the most that may be: what killed processes had out. */
  readonly doubles: number;
  readonly inFlight: number;
  /** The longest that an event of a healthy receiver took to come again, after its process was killed, in milliseconds. */
  readonly backMs: number;
  readonly seconds: number;
  /** Empty when everything held. */
  readonly faults: readonly string[];
}

const DAY_MS = 86_400_000;
/**
 * Days that the senders' clock jumps to for what never came back: some for retries, each event having its own day from its
 * first attempt on, then past the week after which what was never attempted expires.
 */
const DAYS = [1, 2, 3, 8, 9];
const RESTART_PAUSE_MS = 5_000;
/** Every so many kills are the command's that adds and removes a database. */
const COMMAND_EVERY = 3;
/** Kills in a row; then there are none for as long as what they stopped may take to come again, and a little more. */
const VOLLEY = 25;
const QUIET_MS = 18_000;
/** With no request for so long after that there is nothing left to deliver. */
const DRY_MS = 4_000;
/** By when what a killed process had out is tried again, in milliseconds. */
const BACK_MS = 15_000;

/** What several databases have in all, each of which has counted its own. */
const counted = (rows: readonly { n: number }[]): number => rows.reduce((sum, { n }) => sum + Number(n), 0);

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

class Senders {
  readonly #alive = new Map<string, ChildProcess>();
  #count = 0;

  constructor(readonly plan: object) {}

  spawn(tasks: number): void {
    this.#count += 1;
    const name = `s${this.#count}`;
    const file = path.join(import.meta.dirname, "sender-child.ts");
    const child = spawn(process.execPath, [...fromSource, file, JSON.stringify({ ...this.plan, name, tasks })], {
      stdio: ["ignore", "inherit", "inherit"],
    });
    this.#alive.set(name, child);
    child.once("exit", () => this.#alive.delete(name));
  }

  /** False when there is none of that name any more. */
  kill(name: string): boolean {
    const child = this.#alive.get(name);
    this.#alive.delete(name);
    return child?.kill("SIGKILL") ?? false;
  }

  async killAll(): Promise<void> {
    for (const name of [...this.#alive.keys()]) this.kill(name);
    await pause(200);
  }
}

/** One run on one engine. */
export async function runFaults(options: FaultsOptions): Promise<Ledger> {
  const started = performance.now();
  const folder = mkdtempSync(path.join(tmpdir(), "adbind-faults-"));
  const clockFile = path.join(folder, "clock");
  writeFileSync(clockFile, "0");
  const db = await openBooks(options, folder);
  const receivers = new Receivers();
  await receivers.start();
  const privateJwk = generateKeyPairSync("ed25519").privateKey.export({ format: "jwk" });
  const senders = new Senders({
    store: db.url,
    databases: db.urls,
    queue: db.nats?.url,
    clockFile,
    urls: receivers.urls,
    privateJwk,
  });
  const gone = new URL(receivers.urls.at(-1)!).origin;
  const left = async (but = ""): Promise<number> => {
    const text = `select count(*) as n from adbind_jobs where state = 'ready' and endpoint not like '${but} %'`;
    return counted(await db.query(text));
  };
  try {
    for (let index = 0; index < options.senders; index++) senders.spawn(options.tasks);
    await made(options, db);
    const losses: Loss[] = [];
    const changer: ChangerBooks = { commandKills: 0, changes: 0, refused: {} };
    const commands = db.urls === undefined ? 0 : Math.floor(options.kills / COMMAND_EVERY);
    const changing = db.urls && new Changer(db.urls, "principal", changer).killed(commands);
    const killing = killInFlight({ ...options, kills: options.kills - commands }, receivers, senders, losses);
    const outages = db.nats && serversDying(db.nats, receivers, killing);
    await Promise.all([killing, restarting(options, db, receivers, losses), outages, changing]);
    await drain(options, () => left(gone));
    for (const day of DAYS) {
      if ((await left()) === 0) break;
      writeFileSync(clockFile, String(day * (DAY_MS + 120_000)));
      await drain({ ...options, drainMs: options.drainMs / DAYS.length }, left);
    }
    await senders.killAll();
    const ledger = await judge(options, db, receivers, { losses, gone, changer, outages: (await outages) ?? [] });
    return { ...ledger, seconds: Math.round((performance.now() - started) / 1000) };
  } finally {
    await senders.killAll();
    receivers.stop();
    await db.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Until there is enough to be judged by, and something for the receiver that is never there: the first task of the first sender. */
async function made({ eventsFirst, drainMs }: FaultsOptions, db: Books): Promise<void> {
  const end = performance.now() + drainMs;
  const count = async (of: string) => counted(await db.query(`select count(*) as n from app_events where ${of}`));
  while (performance.now() < end && ((await count("1 = 1")) < eventsFirst || (await count("task = 's1-0'")) === 0))
    await pause(50);
}

/** The database goes away for a moment, and what was under way with it. */
async function restarting({ restarts = 0 }: FaultsOptions, db: Books, receivers: Receivers, losses: Loss[]) {
  for (let done = 0; done < restarts; done++) {
    await pause(RESTART_PAUSE_MS);
    losses.push({ ...receivers.out(), healthy: [] });
    await db.restart();
    // What was answered meanwhile could not be written down in time.
    losses.push({ ...receivers.out(), healthy: [] });
  }
}

async function killInFlight(
  { kills, tasks }: FaultsOptions,
  receivers: Receivers,
  senders: Senders,
  losses: Loss[],
): Promise<void> {
  let done = 0;
  let armed = true;
  let asked = performance.now();
  // Once receivers are healed all may be delivered while nothing is killed: without more to deliver nothing ever is.
  const more = setInterval(() => {
    if (armed && performance.now() - asked > QUIET_MS + DRY_MS) senders.spawn(tasks);
  }, DRY_MS);
  await new Promise<void>((resolve) => {
    receivers.onOpen = (name) => {
      asked = performance.now();
      if (!armed || done >= kills || !senders.kill(name)) return;
      losses.push({ ...receivers.out(name), volley: Math.floor(done / VOLLEY) });
      done += 1;
      armed = false;
      // The last to come have nothing to make, only to deliver: else there would always be something new.
      senders.spawn(done > kills - 3 ? 0 : tasks);
      if (done === Math.floor(kills * 0.8)) void receivers.heal();
      if (done >= kills) resolve();
      // Not every request may kill, or nothing would ever be delivered.
      else setTimeout(() => (armed = true), done % VOLLEY === 0 ? QUIET_MS : 150 + Math.random() * 400);
    };
  });
  clearInterval(more);
  receivers.onOpen = () => undefined;
  if (!receivers.healed) await receivers.heal();
}

/** Waits until only what goes nowhere is left. */
async function drain({ drainMs }: FaultsOptions, left: () => Promise<number>): Promise<void> {
  const end = performance.now() + drainMs;
  while (performance.now() < end && (await left()) > 0) await pause(250);
}

/** Principals whose tasks or events are in several databases of a split. */
async function scattered({ urls, query }: Books): Promise<string[]> {
  if (urls === undefined) return [];
  const texts: string[] = [];
  for (const of of [
    "principal from adbind_sent_tasks",
    "endpoint from adbind_jobs where endpoint not like 'changes%'",
  ]) {
    const [column] = of.split(" ");
    const rows = await query<Record<string, string>>(`select distinct ${of}`);
    const names = rows.map((row) => row[column!]!);
    for (const name of new Set(names.filter((one, at) => names.indexOf(one) !== at)))
      texts.push(`rows of ${name} are in several databases`);
  }
  return texts;
}

async function judge(
  { engine, kills, queue, restarts = 0 }: FaultsOptions,
  db: Books,
  receivers: Receivers,
  {
    losses,
    gone,
    outages,
    changer,
  }: {
    readonly losses: readonly Loss[];
    readonly gone: string;
    readonly outages: readonly Outage[];
    readonly changer: ChangerBooks;
  },
): Promise<Omit<Ledger, "seconds">> {
  const made = (await db.query<Made>("select key, task, n from app_events")).map((row) => ({
    ...row,
    n: Number(row.n),
  }));
  const jobs = await db.query<{ key: string; state: string; attempts: number; endpoint: string }>(
    "select key, state, due, attempts, created_at, first_at, started_at, token, endpoint, error from adbind_jobs",
  );
  const dead = new Map(jobs.filter((job) => job.state === "dead").map((job) => [job.key, job]));
  // For a receiver that is never there again; whatever waits for another must reach it.
  const expired = new Set(
    jobs.filter((job) => job.state === "expired" && job.endpoint.startsWith(`${gone} `)).map((job) => job.key),
  );
  const waiting = new Map(jobs.filter((job) => job.state === "ready").map((job) => [job.key, JSON.stringify(job)]));
  const delivered = new Set(receivers.seen.filter((one) => one.accepted).map((one) => one.key));
  const faults: string[] = [];
  const note = (text: string): void => {
    if (faults.length < 20) faults.push(text);
  };
  const known = new Map(made.map((one) => [one.key, one]));
  const settled = await settledKeys(db);
  for (const { key, task, n } of made) {
    const fate = Number(delivered.has(key)) + Number(dead.has(key)) + Number(expired.has(key));
    const waits = waiting.has(key) ? `, it still waits: ${waiting.get(key)}` : "";
    if (fate === 0) note(`${task}/${n} neither delivered nor a dead letter${waits}`);
  }
  for (const one of receivers.seen) {
    const event = known.get(one.key);
    if (event === undefined) note(`${one.task}/${one.n} was sent, and its transaction had not committed`);
    else if (event.task !== one.task || event.n !== one.n) note(`${one.key} was two events`);
  }
  if (new Set(made.map(({ task, n }) => `${task}/${n}`)).size !== made.length) note("an event has two keys");
  if (receivers.followed > 0) note("a redirect was followed");
  checkOrder(made, receivers.seen, settled, note);
  for (const { key, state, attempts } of jobs)
    if (state === "dead" && Number(attempts) === 0) note(`${key} is dead, and was never attempted`);
  const back = comebacks(losses, receivers.seen, outages);
  if (back.backMs > BACK_MS) note(`an event of a healthy receiver took ${back.backMs} ms to come again after a kill`);
  if (back.doubles > back.inFlight) note(`${back.doubles} were accepted twice, and ${back.inFlight} were out at kills`);
  for (const text of await scattered(db)) note(text);
  for (const [text, times] of Object.entries(changer.refused)) console.log(`  ${times} times: ${text}`);
  const tasks = new Set(made.map((one) => one.task)).size;
  return {
    engine: queue ?? engine,
    kills,
    servers: outages.reduce((sum, { servers }) => sum + servers, 0),
    tasks,
    events: made.length,
    attempts: receivers.seen.length,
    delivered: delivered.size,
    dead: dead.size,
    expired: expired.size,
    restarts,
    commandKills: changer.commandKills,
    changes: changer.changes,
    ...back,
    faults,
  };
}
