/** `adbind outbox`: what a sender holds, and a way out for what it gave up. */
import type { Command } from "commander";
import { AdbindError } from "../runtime/errors.js";
import { openQueue } from "../runtime/queue/index.js";
import {
  type EndpointEntry,
  OUTBOX_TOPIC,
  type Outbox,
  type OutboxEntry,
  type OutboxFilter,
  outboxOf,
} from "../runtime/sender/outbox.js";
import type { StoreAccess } from "../runtime/store/index.js";
import { plural, printable, printJson, wholeNumber } from "./output.js";
import { type StoreOption, storeOption, withStore } from "./store.js";

const LIST_LIMIT = "100";

const idOf = (text: string): number => wholeNumber(text, "event's number", "see adbind outbox list");
const countOf = (text: string): number => wholeNumber(text, "count of events", "give a whole number above 0");

const withOutbox = (option: StoreOption, access: StoreAccess, job: (outbox: Outbox) => Promise<void>): Promise<void> =>
  withStore(option, access, async (store) => {
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

/** What has ended is listed by its state; all that is not ended waits. */
const STATES = ["waiting", "dead", "expired", "refused"] as const;
type State = (typeof STATES)[number];

function stateOf(text: string): "ready" | "dead" | "expired" | "refused" {
  if (!STATES.includes(text as State))
    throw new AdbindError("usage", `there is no state ${text}`, { remedy: `use one of ${STATES.join(", ")}` });
  return text === "waiting" ? "ready" : (text as Exclude<State, "waiting">);
}

interface ListOptions extends StoreOption {
  state?: string;
  destination?: string;
  after?: string;
  limit: string;
}

async function list({ state, destination, after, limit, json, ...option }: ListOptions): Promise<void> {
  const filter: OutboxFilter = {
    ...(state !== undefined && { state: stateOf(state) }),
    ...(destination !== undefined && { origin: originOf(destination) }),
    ...(after !== undefined && { after: idOf(after) }),
    limit: countOf(limit),
  };
  await withOutbox(option, "read", async (outbox) => {
    const entries = await outbox.list(filter);
    const counts = await outbox.counts();
    if (json) return printJson({ counts, events: entries.map(shown) });
    for (const entry of entries) console.log(line(entry));
    console.log(STATES.map((one) => `${counts[one]} ${one}`).join(", "));
  });
}

const endpointLine = ({ endpoint, state, waiting, principal, url, restsUntil, error }: EndpointEntry): string =>
  [
    endpoint,
    state.padEnd(7),
    `${waiting} waiting`.padEnd(12),
    principal,
    url,
    restsUntil === null ? "" : `  rests until ${at(restsUntil)}`,
    error === null ? "" : `  ${error}`,
  ]
    .map(printable)
    .join(" ")
    .trimEnd();

interface EndpointOptions extends StoreOption {
  after?: string;
  limit: string;
}

async function endpoints({ after, limit, json, ...option }: EndpointOptions): Promise<void> {
  const page = { ...(after !== undefined && { after }), limit: countOf(limit) };
  await withOutbox(option, "read", async (outbox) => {
    const found = await outbox.endpoints(page);
    const shownEndpoint = ({ restsUntil, failingSince, ...entry }: EndpointEntry) => ({
      ...entry,
      restsUntil: at(restsUntil),
      failingSince: at(failingSince),
    });
    if (json) return printJson({ endpoints: found.map(shownEndpoint) });
    for (const entry of found) console.log(endpointLine(entry));
    console.log(plural(found.length, "endpoint"));
  });
}

async function pause(names: readonly string[], option: StoreOption): Promise<void> {
  await withOutbox(option, "change", async (outbox) => {
    for (const name of names) {
      await outbox.pause(name);
      console.log(printable(`${name} is left alone until adbind outbox resume; its events stay`));
    }
  });
}

async function resume(names: readonly string[], option: StoreOption): Promise<void> {
  await withOutbox(option, "change", async (outbox) => {
    for (const name of names) {
      if (await outbox.resume(name)) console.log(printable(`${name} is delivered to again, within a minute`));
      else {
        console.error(printable(`${name} was not paused: adbind outbox endpoints names those there are`));
        process.exitCode = 1;
      }
    }
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
  await withOutbox(option, "change", async (outbox) => {
    for (const id of numbers) {
      const found = await outbox[what](id);
      if (found) console.log(`${id} ${done[what]}`);
      else {
        console.error(`${id} ${what === "retry" ? "has not ended" : "is not there"}`);
        process.exitCode = 1;
      }
    }
  });
}

export function register(command: Command): void {
  const add = (usage: string, description: string): Command =>
    storeOption(command.command(usage).description(description));
  add("list", "events that were not delivered yet, or never will be without help")
    .option("--state <state>", `only those: ${STATES.join(", ")}`)
    .option("--destination <origin>", "only those for one host, e.g. https://buyer.example")
    .option("--after <number>", "events after this one")
    .option("--limit <count>", "most events", LIST_LIMIT)
    .option("--json", "as JSON")
    .action(list);
  const numbers = ["<number...>", "events, as adbind outbox list numbers them"] as const;
  add("retry", "gives events that ended another day; running senders take them at once")
    .argument(...numbers)
    .action((ids: string[], option: StoreOption) => change("retry", ids, option));
  add("drop", "removes events unsent")
    .argument(...numbers)
    .action((ids: string[], option: StoreOption) => change("drop", ids, option));
  const names = ["<endpoint...>", "as adbind outbox endpoints names them"] as const;
  add("endpoints", "where events go: how each endpoint is, what waits for it, and why it last failed")
    .option("--after <endpoint>", "endpoints after this one")
    .option("--limit <count>", "most endpoints", LIST_LIMIT)
    .option("--json", "as JSON")
    .action(endpoints);
  add("pause", "leaves endpoints alone; their events stay")
    .argument(...names)
    .action(pause);
  add("resume", "ends a pause")
    .argument(...names)
    .action(resume);
}
