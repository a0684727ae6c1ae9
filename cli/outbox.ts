/** `adbind outbox`: what a sender holds, and a way out for what it gave up. */
import type { Command } from "commander";
import { AdbindError } from "../runtime/errors.js";
import { openQueue } from "../runtime/queue/index.js";
import { OUTBOX_TOPIC, type Outbox, type OutboxEntry, outboxOf } from "../runtime/sender/outbox.js";
import { openStore } from "../runtime/store/index.js";
import { plural, printJson } from "./output.js";
import { placeOf, storeOption } from "./store-option.js";

const LIST_LIMIT = "100";

const usage = (what: string, remedy: string): AdbindError => new AdbindError("usage", what, { remedy });

const idOf = (text: string): number => {
  const id = Number(text);
  if (!Number.isSafeInteger(id) || id < 1) throw usage(`${text} is no event's number`, "see adbind outbox list");
  return id;
};

async function withOutbox(url: string, job: (outbox: Outbox) => Promise<void>): Promise<void> {
  // Who looks makes nothing: neither a file where a name was misspelt, nor tables.
  const store = await openStore(placeOf(url), { migrate: false });
  const queue = openQueue(store.database, OUTBOX_TOPIC);
  try {
    await job(outboxOf(queue, Date.now));
  } finally {
    await queue.close();
    await store.close();
  }
}

const at = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString());

const shown = ({ due, createdAt, firstAt, ...entry }: OutboxEntry) => ({
  ...entry,
  due: at(due),
  createdAt: at(createdAt),
  firstAt: at(firstAt),
});

/** Control characters of whatever origin must not reach a terminal. */
const printable = (text: string): string => text.replace(/[^\x20-\x7e]/g, "?");

const line = (entry: OutboxEntry): string =>
  [
    String(entry.id).padStart(6),
    entry.state.padEnd(7),
    entry.type.padEnd(18),
    entry.subject.padEnd(20),
    plural(entry.attempts, "attempt").padEnd(11),
    at(entry.createdAt) ?? "",
    entry.url,
    entry.error === null ? "" : `  ${entry.error}`,
  ]
    .map(printable)
    .join(" ")
    .trimEnd();

interface ListOptions {
  store: string;
  dead?: boolean;
  destination?: string;
  after?: string;
  limit: string;
  json?: boolean;
}

async function list({ store, dead, destination, after, limit, json }: ListOptions): Promise<void> {
  await withOutbox(store, async (outbox) => {
    const entries = await outbox.list({
      ...(dead && { state: "dead" as const }),
      ...(destination !== undefined && { origin: destination }),
      ...(after !== undefined && { after: idOf(after) }),
      limit: idOf(limit),
    });
    const counts = await outbox.counts();
    if (json) return printJson({ counts, events: entries.map(shown) });
    for (const entry of entries) console.log(line(entry));
    console.log(`${counts.waiting} waiting, ${counts.dead} dead`);
  });
}

type Change = "retry" | "drop";
const done = { retry: "is due again, for another day", drop: "is removed, unsent" } as const;

async function change(what: Change, ids: readonly string[], { store }: { store: string }): Promise<void> {
  const numbers = ids.map(idOf);
  await withOutbox(store, async (outbox) => {
    for (const id of numbers) {
      const found = await outbox[what](id);
      console.log(`${id} ${found ? done[what] : what === "retry" ? "is no dead event" : "is not there"}`);
      if (!found) process.exitCode = 1;
    }
  });
}

export function register(command: Command): void {
  storeOption(command.command("list"))
    .description("events that were not delivered yet, or never will be without help")
    .option("--dead", "only those that were given up")
    .option("--destination <origin>", "only those for one host, e.g. https://buyer.example")
    .option("--after <number>", "events after this one")
    .option("--limit <count>", "most events", LIST_LIMIT)
    .option("--json", "as JSON")
    .action(list);
  storeOption(command.command("retry"))
    .description("gives dead events another day; running senders take them at once")
    .argument("<number...>", "events, as adbind outbox list numbers them")
    .action((ids: string[], options: { store: string }) => change("retry", ids, options));
  storeOption(command.command("drop"))
    .description("removes events unsent")
    .argument("<number...>", "events, as adbind outbox list numbers them")
    .action((ids: string[], options: { store: string }) => change("drop", ids, options));
}
