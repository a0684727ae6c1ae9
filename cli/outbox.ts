/** `adbind outbox`: what a sender holds, and a way out for what it gave up. */
import type { Command } from "commander";
import { AdbindError } from "../runtime/errors.js";
import { principalPart } from "../runtime/sender/endpoint-names.js";
import type { EndpointEntry, Outbox, OutboxEntry, OutboxEvent } from "../runtime/sender/operators.js";
import { register as registerSecrets } from "./outbox-secrets.js";
import { register as registerServe } from "./outbox-serve.js";
import {
  type ConfirmOptions,
  eventNumber,
  eventsOf,
  filterOf,
  type KeysOption,
  keysOption,
  mayChange,
  originOf,
  outboxCommand,
  STATES,
  type WhichOptions,
  whichOptions,
  withOutbox,
  yesOption,
} from "./outbox-store.js";
import { plural, printable, printJson, wholeNumber } from "./output.js";
import type { StoreOption } from "./store.js";

const LIST_LIMIT = "100";

const countOf = (text: string): number => wholeNumber(text, "count of events", "give a whole number above 0");

const at = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString());

const shown = <Entry extends OutboxEntry>({ due, createdAt, firstAt, ...entry }: Entry) => ({
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

interface ListOptions extends StoreOption, WhichOptions {
  after?: string;
  limit: string;
}

async function list({ after, limit, json, store, ...which }: ListOptions): Promise<void> {
  const page = { limit: countOf(limit), ...(after !== undefined && { after: eventNumber(after) }) };
  const filter = { ...filterOf(which), ...page };
  await withOutbox({ ...(store !== undefined && { store }) }, "read", async (outbox) => {
    const entries = await outbox.list(filter);
    const counts = await outbox.counts();
    if (json) return printJson({ counts, events: entries.map(shown) });
    for (const entry of entries) console.log(line(entry));
    console.log(STATES.map((one) => `${counts[one]} ${one}`).join(", "));
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
    if (event.due !== null) console.log(`       due       ${at(event.due)}`);
    for (const one of event.history) console.log(attemptLine(one));
    if (body) console.log(printable(event.sealed ?? text));
  });
}

const endpointLine = ({ endpoint, state, waiting, principal, url, restsUntil, error }: EndpointEntry): string =>
  [
    state.padEnd(7),
    `${waiting} waiting`.padStart(14),
    principal.padEnd(16),
    url.padEnd(40),
    restsUntil === null ? "" : `until ${at(restsUntil)}`,
    error ?? "",
    endpoint,
  ]
    .filter((part) => part !== "")
    .map(printable)
    .join(" ");

interface PageOptions extends StoreOption {
  after?: string;
  limit: string;
}

async function endpoints({ after, limit, json, ...option }: PageOptions): Promise<void> {
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

interface EndpointsMeant extends StoreOption, ConfirmOptions {
  readonly principal?: string;
  readonly destination?: string;
}

/** Names that were given, or those of every endpoint that is meant. */
async function endpointsMeant(outbox: Outbox, names: readonly string[], meant: EndpointsMeant): Promise<string[]> {
  const { principal, destination } = meant;
  if (names.length > 0) return [...names];
  if (principal === undefined && destination === undefined)
    throw new AdbindError("usage", "no endpoint is named", { remedy: "name some, or give --principal, --destination" });
  const origin = destination === undefined ? undefined : originOf(destination);
  const found: string[] = [];
  for (let after: string | undefined = ""; after !== undefined; ) {
    const page: EndpointEntry[] = await outbox.endpoints({ after });
    const fits = page.filter(
      (one) =>
        (principal === undefined || one.endpoint.includes(principalPart(principal))) &&
        (origin === undefined || one.endpoint.startsWith(`${origin} `)),
    );
    found.push(...fits.map(({ endpoint }) => endpoint));
    after = page.at(-1)?.endpoint;
  }
  return found;
}

async function pause(names: readonly string[], option: EndpointsMeant): Promise<void> {
  await withOutbox(option, "change", async (outbox) => {
    const all = await endpointsMeant(outbox, names, option);
    if (!(await mayChange(all.length, "endpoint", "paused", option))) return;
    for (const name of all) {
      await outbox.pause(name);
      if (!option.json) console.log(printable(`${name} is left alone until adbind outbox resume; its events stay`));
    }
    if (option.json) printJson({ paused: all });
  });
}

async function resume(names: readonly string[], option: EndpointsMeant): Promise<void> {
  await withOutbox(option, "change", async (outbox) => {
    const all = await endpointsMeant(outbox, names, option);
    if (!(await mayChange(all.length, "endpoint", "resumed", option))) return;
    const resumed: string[] = [];
    for (const name of all) {
      if (await outbox.resume(name)) resumed.push(name);
      else {
        console.error(printable(`${name} was not paused: adbind outbox endpoints names those there are`));
        process.exitCode = 1;
      }
    }
    if (option.json) return printJson({ resumed });
    for (const name of resumed) console.log(printable(`${name} is delivered to again, within a minute`));
  });
}

const changes = {
  retry: { done: "is due at once", many: "tried at once", not: "does not wait for another attempt" },
  replay: { done: "is due again, for another day", many: "sent again", not: "has not ended" },
  drop: { done: "is removed, unsent", many: "removed, unsent", not: "is not there" },
} as const;
type Change = keyof typeof changes;

type ChangeOptions = StoreOption & WhichOptions & ConfirmOptions;

async function change(what: Change, numbers: readonly string[], options: ChangeOptions): Promise<void> {
  const given = numbers.map(eventNumber);
  const filter = filterOf(options);
  if (given.length === 0 && Object.keys(filter).length === 0)
    throw new AdbindError("usage", "no event is named", {
      remedy: "give numbers, or say which: --endpoint, --task ...",
    });
  const { done, many, not } = changes[what];
  await withOutbox(options, "change", async (outbox) => {
    const ids = given.length > 0 ? given : await eventsOf(outbox, filter);
    if (!(await mayChange(ids.length, "event", many, options))) return;
    const came: { id: number; done: boolean }[] = [];
    for (const id of ids) came.push({ id, done: await outbox[what](id) });
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
    const waiting = (await outbox.list({ endpoint })).length;
    if (!(await mayChange(Math.max(waiting, 2), "event", `sent to ${url}, as all that follows`, options))) return;
    const moved = await outbox.move(endpoint, url);
    if (options.json) return printJson(moved);
    console.log(
      printable(`${plural(moved.registrations, "registration")} and ${plural(moved.events, "event")} go to ${url}`),
    );
    if (moved.unproved > 0) {
      const waiting = `${plural(moved.unproved, "notification config")} of them`;
      console.log(`${waiting}: events wait until a running sender has had an answer to its challenge there`);
    }
    if (moved.sealed === 0) return;
    console.error(`${plural(moved.sealed, "registration")} stay: their secrets do not open without their key (--keys)`);
    process.exitCode = 1;
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
  const add = (usage: string, description: string): Command => outboxCommand(command, usage, description);
  add("endpoints", "where events go: how each endpoint is, what waits for it, and why it last failed")
    .option("--after <endpoint>", "endpoints after this one")
    .option("--limit <count>", "most endpoints", LIST_LIMIT)
    .option("--json", "as JSON")
    .action(endpoints);
  for (const [usage, description, action] of [
    ["pause", "leaves endpoints alone; their events stay", pause],
    ["resume", "ends a pause", resume],
  ] as const)
    yesOption(add(usage, description))
      .argument("[endpoint...]", "as adbind outbox endpoints names them; or say which")
      .option("--principal <principal>", "those of one principal that events wait for, fail or are paused")
      .option("--destination <origin>", "those of one host")
      .option("--json", "as JSON")
      .action(action);
  keysOption(yesOption(add("move", "gives all that is registered at an endpoint another URL; its events go along")))
    .argument("<endpoint>", "as adbind outbox endpoints names it")
    .argument("<url>", "where it goes from now on; {operation_id} in it is each operation's own id")
    .option("--json", "as JSON")
    .action(move);
  registerSecrets(command);
  registerServe(command);
}
