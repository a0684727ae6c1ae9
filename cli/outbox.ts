/** `adbind outbox`: what a sender holds, and a way out for what it gave up. */
import type { Command } from "commander";
import { AdbindError } from "../runtime/errors.js";
import { openQueue } from "../runtime/queue/index.js";
import { OUTBOX_TOPIC, type Outbox, type OutboxEntry, outboxOf } from "../runtime/sender/outbox.js";
import { plural, printable, printJson, wholeNumber } from "./output.js";
import { type StoreOption, storeOption, withStore } from "./store.js";

const LIST_LIMIT = "100";

const idOf = (text: string): number => wholeNumber(text, "event's number", "see adbind outbox list");
const countOf = (text: string): number => wholeNumber(text, "count of events", "give a whole number above 0");

const withOutbox = (option: StoreOption, job: (outbox: Outbox) => Promise<void>): Promise<void> =>
  withStore(option, "change", async (store) => {
    const queue = openQueue(store.database, OUTBOX_TOPIC);
    try {
      await job(outboxOf(queue, Date.now));
    } finally {
      await queue.close();
    }
  });

const at = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString());

const shown = ({ due, createdAt, firstAt, ...entry }: OutboxEntry) => ({
  ...entry,
  due: at(due),
  createdAt: at(createdAt),
  firstAt: at(firstAt),
});

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

interface ListOptions extends StoreOption {
  dead?: boolean;
  destination?: string;
  after?: string;
  limit: string;
}

async function list({ dead, destination, after, limit, json, ...option }: ListOptions): Promise<void> {
  const filter = {
    ...(dead && { state: "dead" as const }),
    ...(destination !== undefined && { group: originOf(destination) }),
    ...(after !== undefined && { after: idOf(after) }),
    limit: countOf(limit),
  };
  await withStore(option, "read", async (store) => {
    const outbox = outboxOf(openQueue(store.database, OUTBOX_TOPIC), Date.now);
    const entries = await outbox.list(filter);
    const counts = await outbox.counts();
    if (json) return printJson({ counts, events: entries.map(shown) });
    for (const entry of entries) console.log(line(entry));
    console.log(`${counts.waiting} waiting, ${counts.dead} dead`);
  });
}

/** As destinations are grouped; a path is of no account. */
function originOf(text: string): string {
  const url = URL.parse(text);
  if (url !== null && url.host !== "") return url.origin;
  throw new AdbindError("usage", `${text} is no origin`, {
    remedy: "give scheme and host, e.g. https://buyer.example",
  });
}

type Change = "retry" | "drop";
const done = { retry: "is due again, for another day", drop: "is removed, unsent" } as const;

async function change(what: Change, ids: readonly string[], option: StoreOption): Promise<void> {
  const numbers = ids.map(idOf);
  await withOutbox(option, async (outbox) => {
    for (const id of numbers) {
      const found = await outbox[what](id);
      if (found) console.log(`${id} ${done[what]}`);
      else {
        console.error(`${id} ${what === "retry" ? "is no dead event" : "is not there"}`);
        process.exitCode = 1;
      }
    }
  });
}

export function register(command: Command): void {
  const add = (usage: string, description: string): Command =>
    storeOption(command.command(usage).description(description));
  add("list", "events that were not delivered yet, or never will be without help")
    .option("--dead", "only those that were given up")
    .option("--destination <origin>", "only those for one host, e.g. https://buyer.example")
    .option("--after <number>", "events after this one")
    .option("--limit <count>", "most events", LIST_LIMIT)
    .option("--json", "as JSON")
    .action(list);
  const numbers = ["<number...>", "events, as adbind outbox list numbers them"] as const;
  add("retry", "gives dead events another day; running senders take them at once")
    .argument(...numbers)
    .action((ids: string[], option: StoreOption) => change("retry", ids, option));
  add("drop", "removes events unsent")
    .argument(...numbers)
    .action((ids: string[], option: StoreOption) => change("drop", ids, option));
}
