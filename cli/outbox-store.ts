/** What the commands of an outbox share: how it is opened, which events are meant, and leave for what changes many. */
import { randomUUID } from "node:crypto";
import { createInterface } from "node:readline/promises";
import type { Command } from "commander";
import { clockOf } from "../runtime/db/database-time.js";
import { AdbindError } from "../runtime/errors.js";
import { checkedPolicy } from "../runtime/net/policy.js";
import { openQueue } from "../runtime/queue/index.js";
import type { MoveParts } from "../runtime/sender/move.js";
import {
  type EndpointEntry,
  type Outbox,
  type OutboxEntry,
  type OutboxFilter,
  outboxOf,
} from "../runtime/sender/operators.js";
import { OUTBOX_TOPIC } from "../runtime/sender/outbox.js";
import { bodiesOf } from "../runtime/sender/sealed-bodies.js";
import { createKeyring } from "../runtime/sender/sealing.js";
import { type SecretKeySource, secretKeysIn, secretKeysOfEnvironment } from "../runtime/sender/secret-keys.js";
import type { StoreAccess } from "../runtime/store/index.js";
import { senderTables } from "../runtime/store/sender-tables.js";
import { holdAlone } from "../runtime/store/split/one-database.js";
import { plural, userPath, wholeNumber } from "./output.js";
import { type StoreOption, storeOption, withStore } from "./store.js";

export interface KeysOption {
  readonly keys?: string;
}

export const keysOption = (command: Command): Command =>
  command.option(
    "--keys <file>",
    "keys of secrets; by default what ADBIND_SECRET_KEYS_FILE or ADBIND_SECRET_KEYS names",
  );

const keysOf = ({ keys }: KeysOption): SecretKeySource | undefined =>
  keys === undefined ? secretKeysOfEnvironment(process.env) : secretKeysIn(userPath(keys));

/** Opens the store's outbox for one job. */
export const withOutbox = (
  option: StoreOption & KeysOption,
  access: StoreAccess,
  job: (outbox: Outbox, parts: MoveParts) => Promise<void>,
): Promise<void> =>
  withStore(option, access, async (store) => {
    // As senders go by it: what an operator says counts from when he says it, whatever the clock of his machine.
    const now = await clockOf(store.database);
    const queue = openQueue(store.database, OUTBOX_TOPIC, { now });
    // The database may be one of several: what moves is left alone, and whoever asks is told where it went.
    const tables = { ...senderTables(store.database), hold: holdAlone };
    const keyring = await createKeyring(keysOf(option));
    const bodies = bodiesOf(keyring, false);
    const rules = { policy: checkedPolicy({}) };
    const parts: MoveParts = { queue, tables, keyring, bodies, rules, now, uuid: randomUUID };
    try {
      await job(outboxOf(parts), parts);
    } finally {
      await queue.close();
    }
  });

/** Most that are listed, where nobody says how many. */
export const LIST_LIMIT = "100";

export const countOf = (text: string): number => wholeNumber(text, "count of events", "give a whole number above 0");

/** A time as it is shown. */
export const shownAt = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString());

export const eventNumber = (text: string): number => wholeNumber(text, "event's number", "see adbind outbox list");

/** What has ended is listed by its state; all that is not ended waits. */
export const STATES = ["waiting", "dead", "expired", "refused"] as const;
type State = (typeof STATES)[number];

function stateOf(text: string): "ready" | "dead" | "expired" | "refused" {
  if (!STATES.includes(text as State))
    throw new AdbindError("usage", `there is no state ${text}`, { remedy: `use one of ${STATES.join(", ")}` });
  return text === "waiting" ? "ready" : (text as Exclude<State, "waiting">);
}

/** As destinations are grouped; a path is of no account. */
export function originOf(text: string): string {
  const url = URL.parse(text);
  if (url !== null && url.host !== "") return url.origin;
  throw new AdbindError("usage", `${text} is no origin`, {
    remedy: "give scheme and host, e.g. https://buyer.example",
  });
}

const UNIT_MS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** A time, or how long before `now`: unix milliseconds. */
function timeOf(text: string, now: number): number {
  const ago = /^(\d{1,6})([smhd])$/.exec(text);
  if (ago !== null) return now - Number(ago[1]) * UNIT_MS[ago[2] as keyof typeof UNIT_MS];
  const at = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isFinite(at)) return at;
  throw new AdbindError("usage", `${text} is no time`, { remedy: "give 2026-11-22T10:00:00Z, or 90m, 12h, 3d ago" });
}

/** Options that say which events are meant. */
export interface WhichOptions {
  state?: string;
  destination?: string;
  endpoint?: string;
  principal?: string;
  task?: string;
  from?: string;
  to?: string;
}

export const whichOptions = (command: Command): Command =>
  command
    .option("--state <state>", `only those: ${STATES.join(", ")}`)
    .option("--destination <origin>", "only those for one host, e.g. https://buyer.example")
    .option("--endpoint <endpoint>", "only those of one endpoint, as adbind outbox endpoints names it")
    .option("--principal <principal>", "only those of one principal")
    .option("--task <id>", "only those of one task or media buy")
    .option("--from <time>", "only those made at that time or later: 2026-11-22T10:00:00Z, or 12h for twelve hours ago")
    .option("--to <time>", "only those made before that time");

/** What a script gives as nothing is not taken for everything. */
export function named(option: string, text: string): string {
  if (text !== "") return text;
  throw new AdbindError("usage", `${option} is empty`, {
    remedy: "look whether a variable is not set, or leave it out",
  });
}

/** @param now unix milliseconds, by the clock that events' times are of */
export const filterOf = (
  { state, destination, endpoint, principal, task, from, to }: WhichOptions,
  now: number,
): OutboxFilter => ({
  ...(state !== undefined && { state: stateOf(state) }),
  ...(destination !== undefined && { origin: originOf(destination) }),
  ...(endpoint !== undefined && { endpoint: named("--endpoint", endpoint) }),
  ...(principal !== undefined && { principal: named("--principal", principal) }),
  ...(task !== undefined && { task: named("--task", task) }),
  ...(from !== undefined && { from: timeOf(from, now) }),
  ...(to !== undefined && { to: timeOf(to, now) }),
});

/** What the store answers at once, at most. */
const EVENTS_PAGE = 1_000;
const ENDPOINTS_PAGE = 100;

/** Events that are meant, in their order, page by page. @param most of them */
export async function* eventPages(
  outbox: Outbox,
  { after, ...filter }: OutboxFilter,
  most = Number.POSITIVE_INFINITY,
): AsyncGenerator<OutboxEntry[]> {
  let last = after;
  for (let left = most; left > 0; ) {
    const limit = Math.min(left, EVENTS_PAGE);
    const page = await outbox.list({ ...filter, limit, ...(last !== undefined && { after: last }) });
    yield page;
    if (page.length < limit) return;
    last = page.at(-1)!.id;
    left -= page.length;
  }
}

/** Endpoints by name, page by page. @param most of them */
export async function* endpointPages(
  outbox: Outbox,
  after = "",
  most = Number.POSITIVE_INFINITY,
): AsyncGenerator<EndpointEntry[]> {
  let last = after;
  for (let left = most; left > 0; ) {
    const limit = Math.min(left, ENDPOINTS_PAGE);
    const page = await outbox.endpoints({ after: last, limit });
    yield page;
    if (page.length < limit) return;
    last = page.at(-1)!.endpoint;
    left -= page.length;
  }
}

/** Says, beside what is listed, how what may stand behind it is. */
export const tellOfMore = (count: number, noun: string, after: string): void =>
  console.error(`${plural(count, noun)} are listed; those after them: --after ${after}`);

/** Numbers of every event that is meant. */
export async function eventsOf(outbox: Outbox, filter: OutboxFilter): Promise<number[]> {
  const ids: number[] = [];
  for await (const page of eventPages(outbox, filter)) for (const { id } of page) ids.push(id);
  return ids;
}

export interface ConfirmOptions {
  readonly yes?: boolean;
  readonly json?: boolean;
}

export const yesOption = (command: Command): Command =>
  command.option("--yes", "without asking, where more than one would be changed");

/**
 * Asks before more than one is changed.
 * @throws AdbindError `usage` where nobody can be asked
 */
export async function mayChange(
  count: number,
  noun: string,
  what: string,
  { yes = false, json = false }: ConfirmOptions,
): Promise<boolean> {
  return count <= 1 || yes || mayGoOn(`${plural(count, noun)} would be ${what}`, json);
}

/**
 * Asks before what was said is done.
 * @throws AdbindError `usage` where nobody can be asked
 */
export async function mayGoOn(said: string, json = false): Promise<boolean> {
  if (json || !process.stdin.isTTY) throw new AdbindError("usage", said, { remedy: "say --yes, or ask for fewer" });
  const asking = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await asking.question(`${said}. Go on? [y/N] `)).trim());
  } finally {
    asking.close();
  }
}

/** A command on the outbox's store. */
export const outboxCommand = (command: Command, usage: string, description: string): Command =>
  storeOption(command.command(usage).description(description));
