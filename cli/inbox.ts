/** `adbind inbox`: what a receiver holds, and a way out for what it gave up. */
import type { Command } from "commander";
import { AdbindError } from "../runtime/errors.js";
import { printable } from "../runtime/printable.js";
import type { InboxEvent, InboxState, Store, StoreAccess } from "../runtime/store/index.js";
import { plural, printJson, wholeNumber } from "./output.js";
import { type StoreOption, storeOption, withStore } from "./store.js";

const STATES: readonly InboxState[] = ["pending", "parked", "dead"];
const LIST_LIMIT = 100;

const usage = (what: string, remedy: string): AdbindError => new AdbindError("usage", what, { remedy });

const idOf = (text: string): number => wholeNumber(text, "event's number", "see adbind inbox list");
const countOf = (text: string): number => wholeNumber(text, "count of events", "give a whole number above 0");

const withInbox = (option: StoreOption, access: StoreAccess, job: (store: Store) => Promise<void>): Promise<void> =>
  withStore(option, access, (store) => job(store as Store));

/** An event for a reader; the body only when asked for, it is the sender's and the buyer's business. */
const shown = ({ body, receivedAt, due, ...event }: InboxEvent, withBody: boolean) => ({
  ...event,
  receivedAt: new Date(receivedAt).toISOString(),
  // An event that waits behind another of its task has no time of its own.
  due: due < Number.MAX_SAFE_INTEGER ? new Date(due).toISOString() : null,
  bytes: body.length,
  ...(withBody && { body: Buffer.from(body).toString() }),
});

const line = (event: InboxEvent): string =>
  [
    String(event.id).padStart(6),
    event.state.padEnd(7),
    (event.taskType ?? event.kind).padEnd(18),
    (event.status ?? "-").padEnd(14),
    plural(event.attempts, "failure").padEnd(11),
    new Date(event.receivedAt).toISOString(),
    event.sender,
    event.error === null ? "" : `  ${event.error}`,
  ]
    .map(printable)
    .join(" ")
    .trimEnd();

interface ListOptions extends StoreOption {
  state?: string;
  sender?: string;
  after?: string;
  limit: string;
  body?: boolean;
}

async function list({ store: named, state, sender, after, limit, json, body }: ListOptions): Promise<void> {
  if (state !== undefined && !STATES.includes(state as InboxState)) {
    throw usage(`there is no state ${state}`, `use one of ${STATES.join(", ")}`);
  }
  const filter = {
    ...(state !== undefined && { state: state as InboxState }),
    ...(sender !== undefined && { sender }),
    ...(after !== undefined && { after: idOf(after) }),
    limit: countOf(limit),
  };
  await withInbox({ ...(named !== undefined && { store: named }) }, "read", async (store) => {
    const events = await store.inbox.list(filter);
    const backlog = await store.inbox.backlog();
    if (json) return printJson({ backlog, events: events.map((event) => shown(event, body === true)) });
    for (const event of events) console.log(line(event));
    console.log(`${backlog.pending} pending, ${backlog.parked} parked, ${backlog.dead} dead`);
  });
}

/** A later event of the task was applied meanwhile: handling this one now would undo it. */
async function isSuperseded(store: Store, event: InboxEvent): Promise<boolean> {
  if (event.kind !== "task" || event.taskId === null || event.instant === null) return false;
  const state = await store.task(event.sender, event.taskId);
  return state !== undefined && state.instant > event.instant;
}

/** As receivers on it go by it: what is replayed is due at once, whatever the clock of this machine. */
const nowOf = ({ now = Date.now }: Store): number => now();

async function replay(ids: string[], { force, ...option }: StoreOption & { force?: boolean }): Promise<void> {
  const numbers = ids.map(idOf);
  await withInbox(option, "change", async (store) => {
    for (const id of numbers) {
      const event = await store.inbox.get(id);
      const reason =
        event === undefined
          ? "there is no such event"
          : event.state === "pending"
            ? "it is pending already"
            : force !== true && (await isSuperseded(store, event))
              ? "its task has moved on since; --force handles it all the same"
              : undefined;
      if (reason === undefined && (await store.inbox.replay(id, nowOf(store)))) console.log(`${id}: pending again`);
      else {
        console.error(`${id}: not replayed, ${reason ?? "it has just gone"}`);
        process.exitCode = 1;
      }
    }
  });
}

async function drop(ids: string[], option: StoreOption): Promise<void> {
  const numbers = ids.map(idOf);
  await withInbox(option, "change", async (store) => {
    for (const id of numbers) {
      if (await store.inbox.drop(id, nowOf(store))) console.log(`${id}: dropped`);
      else {
        console.error(`${id}: there is no such event`);
        process.exitCode = 1;
      }
    }
  });
}

export function register(command: Command): void {
  const add = (usage: string, description: string): Command =>
    storeOption(command.command(usage).description(description));
  add("list", "events that wait, are parked, or were given up")
    .option("--state <state>", STATES.join(", "))
    .option("--sender <url>", "of one sender")
    .option("--after <id>", "only later ones")
    .option("--limit <n>", "at most so many", String(LIST_LIMIT))
    .option("--json", "print them as JSON")
    .option("--body", "with their bodies, in JSON")
    .action(list);
  add("replay <ids...>", "hand events that were given up, or parked, to their handler")
    .option("--force", "also those whose task has moved on")
    .action(replay);
  add("drop <ids...>", "remove events unhandled; their keys stay claimed").action(drop);
}
