/** The runbook of docs/webhooks-out.md: each command in it is run where an operator would, and does what is said of it. */
import { readFileSync } from "node:fs";
import path from "node:path";
import Database from "better-sqlite3";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { register as db } from "../../cli/db.js";
import { register as outbox } from "../../cli/outbox.js";
import { createSender, type Sender, secretKeysIn } from "../../runtime/sender/index.js";
import { openStore } from "../../runtime/store/index.js";
import { FakeNetwork, optionsFor } from "../sender/fixture.js";
import { HOUR, push, secret, start } from "../sender/sender-suite.js";
import { sharedPostgres } from "../support/postgres.js";
import { until } from "../support/until.js";
import { commandFolder, type Ran, runCommand } from "./run-command.js";

const text = readFileSync(path.resolve(import.meta.dirname, "../../docs/webhooks-out.md"), "utf8");
const runbook = text.slice(text.indexOf("## Runbook"));
const told = [...runbook.matchAll(/`(adbind [^`]+)`/g)].map(([, command]) => command!);

const DAY = 24 * HOUR;
const { at, remove } = commandFolder();
const given = ["--store", "sqlite:outbox.db"];
/** Commands go by the clock of this machine; the sender's is ahead, so that nothing becomes due by waiting for them. */
const clock = { at: Date.now() + HOUR };
const network = new FakeNetwork(clock);
const authentication = { schemes: ["HMAC-SHA256"], credentials: secret };

async function withSender(work: (sender: Sender) => Promise<void>, keys = "keys"): Promise<void> {
  const store = await openStore(`sqlite:${at("outbox.db")}`);
  const { now: _now, ...options } = optionsFor(clock, network);
  const secrets = () => secretKeysIn(at(keys));
  const sender = await createSender({ ...options, now: () => clock.at, store, secrets, sealBodies: true } as never);
  try {
    await work(sender);
  } finally {
    await sender.stop();
    await store.close();
  }
}

const tell = (taskId: string, url = push.url) =>
  withSender(async ({ tasks }) => {
    await tasks.register(start({ taskId }), { push: { ...push, url, authentication } });
    await tasks.update(taskId, { status: "working" });
  });

/** Attempts what is due, and whatever becomes due within a time. */
const attempted = (ms: number, holds: (sender: Sender) => Promise<boolean>) =>
  withSender(async (sender) => {
    sender.start();
    clock.at += ms;
    await until(() => holds(sender));
  });

const ran = new Set<string>();

/** A command of the runbook, with what its words in capitals stand for. */
async function run(command: string, words: Readonly<Record<string, string>> = {}): Promise<Ran> {
  assert.ok(told.includes(command), `the runbook has ${command}`);
  ran.add(command);
  const [, what, ...argv] = command.split(" ").map((word) => words[word] ?? word);
  const where = argv[1] === "new" ? [] : (words.store?.split(" ") ?? given);
  const keys = argv[0] === "secrets" && argv[1] !== "new" ? ["--keys", "keys"] : [];
  const came = await runCommand(what === "db" ? db : outbox, [...argv, ...where, ...keys]);
  assert.is(came.code, 0, `${command}: ${came.err}`);
  clock.at = Math.max(clock.at, Date.now() + 1);
  return came;
}

const endpoints = async (): Promise<{ endpoint: string; state: string; waiting: number }[]> =>
  JSON.parse((await runCommand(outbox, ["endpoints", ...given, "--json"])).out).endpoints;
const listed = async (...which: string[]): Promise<{ id: number; state: string; subject: string }[]> =>
  JSON.parse((await runCommand(outbox, ["list", ...given, ...which, "--json"])).out).events;

test("what the runbook says of a backlog that grows empties it", async () => {
  await runCommand(outbox, ["secrets", "new", "keys", "--id", "k1"]);
  await tell("a");
  network.react = () => ({ ok: false, code: "connect_failed" }) as never;
  await attempted(0, async (sender) => (await sender.outbox.list())[0]?.attempts === 1);
  assert.match((await run("adbind outbox endpoints")).out, /failing .* 1 waiting/);
  network.react = () => 200;
  assert.match((await run("adbind outbox retry --state waiting --yes")).out, "1 event");
  await attempted(0, async (sender) => (await sender.outbox.counts()).waiting === 0);
});

test("what the runbook says of an endpoint that dies moves it, and brings its events back", async () => {
  network.react = () => ({ status: 503, body: Buffer.from("down for good") });
  await tell("b");
  await attempted(0, async (sender) => (await sender.outbox.list())[0]?.attempts === 1);
  const [event] = await listed();
  assert.match((await run("adbind outbox show NUMBER", { NUMBER: String(event!.id) })).out, "answer: down for good");
  const [dead] = await endpoints();
  const words = { ENDPOINT: dead!.endpoint, URL: "https://new.example/hooks" };
  await run("adbind outbox pause ENDPOINT", words);
  assert.is((await endpoints())[0]!.state, "paused");
  await runCommand(outbox, ["resume", dead!.endpoint, ...given]);
  await attempted(25 * HOUR, async (sender) => (await sender.outbox.counts()).dead === 1);
  const moving = "adbind outbox move ENDPOINT URL";
  ran.add(moving);
  const argv = ["move", words.ENDPOINT, words.URL, ...given, "--keys", "keys"];
  assert.match((await runCommand(outbox, argv)).err, "--yes", "it asks, since all that follows goes there");
  assert.match((await runCommand(outbox, [...argv, "--yes"])).out, "2 registrations and");
  const back = (await listed("--state", "dead"))[0]!;
  const shown = JSON.parse((await runCommand(outbox, ["show", String(back.id), ...given, "--json"])).out);
  network.react = () => 200;
  await run("adbind outbox replay --endpoint ENDPOINT --yes", { ENDPOINT: shown.endpoint });
  await attempted(0, async (sender) => (await sender.outbox.counts()).waiting === 0);
  assert.is(network.sent.at(-1)!.url, words.URL);
  await tell("c", "https://gone.example/h");
  const gone = (await endpoints()).find(({ waiting }) => waiting > 0)!;
  await run("adbind outbox drop --endpoint ENDPOINT --yes", { ENDPOINT: gone.endpoint });
  assert.equal(await listed(), []);
});

test("what the runbook says of a key that leaks, or is lost, seals all anew", async () => {
  await tell("d");
  await run("adbind outbox secrets new FILE", { FILE: "keys" });
  assert.match((await run("adbind outbox secrets rotate")).out, /^[1-9]\d* sealed anew/);
  await runCommand(outbox, ["secrets", "new", "other", "--id", "other"]);
  network.react = () => 200;
  await withSender(async (sender) => {
    sender.start();
    await until(async () => (await sender.outbox.counts()).refused === 1);
  }, "other");
  await run("adbind outbox replay --state refused --yes");
  await attempted(0, async (sender) => (await sender.outbox.counts()).waiting === 0);
  assert.is(network.sent.at(-1)!.body.task_id, "d");
});

test("what the runbook says of a disk that fills makes room on it", async () => {
  network.react = () => 500;
  clock.at = Date.now() - 9 * DAY;
  await tell("e", "https://full.example/h");
  await attempted(0, async (sender) => (await sender.outbox.list())[0]?.attempts === 1);
  await attempted(25 * HOUR, async (sender) => (await sender.outbox.counts()).dead === 1);
  assert.match((await run("adbind outbox list --state dead")).out, "0 waiting, 1 dead");
  assert.match((await run("adbind outbox drop --state dead --to 7d --yes")).out, "1 event");
  const file = new Database(at("outbox.db"));
  file.exec("VACUUM");
  assert.is(file.pragma("freelist_count", { simple: true }), 0);
  file.close();
  const server = await sharedPostgres();
  const url = await server.database();
  await (await openStore(url)).close();
  assert.match((await run("adbind db partitions", { store: `--store ${url}` })).out, /\d/);
  await server.stop();
});

test("nothing in the runbook was left out", () => {
  assert.equal(
    told.filter((command) => !ran.has(command)),
    [],
  );
  remove();
});

test.run();
