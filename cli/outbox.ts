/** `adbind outbox`: what a sender holds, and a way out for what it gave up. */
import type { Command } from "commander";
import { AdbindError } from "../runtime/errors.js";
import { printable } from "../runtime/printable.js";
import type { OutboxEntry, OutboxEvent } from "../runtime/sender/operators.js";
import { registerEndpoints } from "./outbox-endpoints.js";
import { register as registerSecrets } from "./outbox-secrets.js";
import { register as registerServe } from "./outbox-serve.js";
import {
  type ConfirmOptions,
  countOf,
  eventNumber,
  eventPages,
  eventsOf,
  filterOf,
  type KeysOption,
  keysOption,
  LIST_LIMIT,
  mayChange,
  mayGoOn,
  outboxCommand,
  STATES,
  shownAt,
  tellOfMore,
  type WhichOptions,
  whichOptions,
  withOutbox,
  yesOption,
} from "./outbox-store.js";
import { plural, printJson } from "./output.js";
import type { StoreOption } from "./store.js";

const shown = <Entry extends OutboxEntry>({ due, createdAt, firstAt, ...entry }: Entry) => ({
  ...entry,
  due: shownAt(due),
  createdAt: shownAt(createdAt),
  firstAt: shownAt(firstAt),
});

const line = (entry: OutboxEntry): string =>
  [
    String(entry.id).padStart(6),
    entry.state.padEnd(7),
    entry.type.padEnd(18),
    entry.subject.padEnd(20),
    plural(entry.attempts, "attempt").padEnd(11),
    shownAt(entry.createdAt) ?? "",
    entry.url,
    entry.error === null ? "" : `  ${entry.error}`,
  ]
    .map(printable)
    .join(" ")
    .trimEnd();

interface ListOptions extends StoreOption, WhichOptions {
  after?: string;
  limit: string;
}

async function list({ after, limit, json, store, ...which }: ListOptions): Promise<void> {
  const most = countOf(limit);
  const from = after === undefined ? {} : { after: eventNumber(after) };
  // What is wrong in the command line is told before a store is opened.
  filterOf(which, 0);
  await withOutbox({ ...(store !== undefined && { store }) }, "read", async (outbox, { now }) => {
    const filter = { ...filterOf(which, now()), ...from };
    const entries: OutboxEntry[] = [];
    for await (const page of eventPages(outbox, filter, most)) entries.push(...page);
    const counts = await outbox.counts();
    if (json) return printJson({ counts, events: entries.map(shown) });
    for (const entry of entries) console.log(line(entry));
    console.log(STATES.map((one) => `${counts[one]} ${one}`).join(", "));
    if (entries.length === most) tellOfMore(most, "event", String(entries.at(-1)!.id));
  });
}

/** What an attempt came to, with the receiver's words. */
const attemptLine = ({
  attempt,
  fired_at,
  status,
  response_time_ms,
  error_message,
  answer,
}: OutboxEvent["history"][0]) => {
  const words = answer === undefined ? "" : `  answer: ${answer.text}${answer.cut ? " ... (cut)" : ""}`;
  const time = response_time_ms === null ? "" : `${response_time_ms} ms`;
  return printable(
    `${String(attempt).padStart(6)} ${fired_at} ${status} ${time}  ${error_message ?? ""}${words}`.trimEnd(),
  );
};

type ShowOptions = StoreOption & KeysOption & { body?: boolean };

async function show(number: string, { json, body, ...option }: ShowOptions): Promise<void> {
  const id = eventNumber(number);
  await withOutbox(option, "read", async (outbox) => {
    const event = await outbox.show(id);
    if (event === undefined)
      throw new AdbindError("usage", `there is no event ${id}`, { remedy: "see adbind outbox list" });
    const { body: text, ...rest } = event;
    if (json) return printJson(shown({ ...rest, ...(body && text !== "" && { body: JSON.parse(text) }) }));
    console.log(line(event));
    console.log(printable(`       endpoint  ${event.endpoint}\n`.trimEnd()));
    console.log(printable(`       principal ${event.principal}`));
    console.log(`       key       ${event.key}`);
    if (event.due !== null) console.log(`       due       ${shownAt(event.due)}`);
    for (const one of event.history) console.log(attemptLine(one));
    if (body) console.log(printable(event.sealed ?? text));
  });
}

const changes = {
  retry: {
    done: "is due at once",
    many: "tried at once",
    not: "is not there, does not wait for another attempt, or is none of those",
  },
  replay: {
    done: "is due again, for another day",
    many: "sent again",
    not: "is not there, has not ended, or is none of those",
  },
  drop: { done: "is removed, unsent", many: "removed, unsent", not: "is not there, or is none of those" },
} as const;
type Change = keyof typeof changes;

type ChangeOptions = StoreOption & WhichOptions & ConfirmOptions;

async function change(what: Change, numbers: readonly string[], options: ChangeOptions): Promise<void> {
  const given = numbers.map(eventNumber);
  // What is wrong in the command line is told before a store is opened.
  if (given.length === 0 && Object.keys(filterOf(options, 0)).length === 0)
    throw new AdbindError("usage", "no event is named", {
      remedy: "give numbers, or say which: --endpoint, --task ...",
    });
  const { done, many, not } = changes[what];
  await withOutbox(options, "change", async (outbox, { now }) => {
    const filter = filterOf(options, now());
    const ids = given.length > 0 ? given : await eventsOf(outbox, filter);
    if (!(await mayChange(ids.length, "event", many, options))) return;
    // Who gives numbers and says which wants no other's event changed by a number that was mistyped.
    const meant = given.length > 0 && Object.keys(filter).length > 0 ? await eventsOf(outbox, filter) : ids;
    const among = new Set(meant);
    const came: { id: number; done: boolean }[] = [];
    for (const id of ids) {
      const changed = what === "drop" ? () => outbox.drop(id, filter) : () => outbox[what](id);
      came.push({ id, done: among.has(id) && (await changed()) });
    }
    if (options.json) printJson({ [what]: came.filter((one) => one.done).map(({ id }) => id) });
    for (const { id, done: changed } of came) {
      if (changed && !options.json) console.log(`${id} ${done}`);
      if (changed || given.length === 0) continue;
      console.error(`${id} ${not}`);
      process.exitCode = 1;
    }
    if (given.length === 0 && !options.json) console.log(plural(came.filter((one) => one.done).length, "event"));
  });
}

type MoveOptions = StoreOption & KeysOption & ConfirmOptions;

async function move(endpoint: string, url: string, options: MoveOptions): Promise<void> {
  await withOutbox(options, "change", async (outbox) => {
    const waiting = plural((await eventsOf(outbox, { endpoint })).length, "event");
    const said = `${waiting} would be sent to ${url}, and all that follows of what is registered at ${endpoint}`;
    if (!options.yes && !(await mayGoOn(said, options.json))) return;
    const moved = await outbox.move(endpoint, url);
    if (options.json) return printJson(moved);
    console.log(
      printable(`${plural(moved.registrations, "registration")} and ${plural(moved.events, "event")} go to ${url}`),
    );
    if (moved.unproved > 0) {
      const waiting = `${plural(moved.unproved, "notification config")} of them`;
      console.log(`${waiting}: events wait until a running sender has had an answer to its challenge there`);
    }
    for (const row of moved.unreadable)
      console.error(printable(`${row} cannot be read, and stays as it is: its row was changed by hand`));
    if (moved.sealed > 0)
      console.error(
        `${plural(moved.sealed, "registration")} stay: their secrets do not open without their key (--keys)`,
      );
    if (moved.sealed + moved.unreadable.length > 0) process.exitCode = 1;
  });
}

function registerEvents(command: Command): void {
  const add = (usage: string, description: string): Command => outboxCommand(command, usage, description);
  whichOptions(add("list", "events that were not delivered yet, or never will be without help"))
    .option("--after <number>", "events after this one")
    .option("--limit <count>", "most events", LIST_LIMIT)
    .option("--json", "as JSON")
    .action(list);
  keysOption(add("show", "one event: its attempts, and what the receiver answered"))
    .argument("<number>", "as adbind outbox list numbers it")
    .option("--body", "what is sent, too")
    .option("--json", "as JSON")
    .action(show);
  const help: Record<Change, string> = {
    retry: "tries events at once that wait for their next attempt",
    replay: "gives events that ended another day; running senders take them at once",
    drop: "removes events unsent",
  };
  for (const what of Object.keys(changes) as Change[])
    yesOption(whichOptions(add(what, help[what])))
      .argument("[number...]", "events, as adbind outbox list numbers them; or say which")
      .option("--json", "as JSON")
      .action((ids: string[], options: ChangeOptions) => change(what, ids, options));
}

export function register(command: Command): void {
  registerEvents(command);
  registerEndpoints(command);
  const moving = outboxCommand(
    command,
    "move",
    "gives all that is registered at an endpoint another URL; its events go along",
  );
  keysOption(yesOption(moving))
    .argument("<endpoint>", "as adbind outbox endpoints names it")
    .argument("<url>", "where it goes from now on; {operation_id} in it is each operation's own id")
    .option("--json", "as JSON")
    .action(move);
  registerSecrets(command);
  registerServe(command);
}
