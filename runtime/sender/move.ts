/** Moves an endpoint: what is registered there goes to another URL, and its events with it. */
import { isTerminal, type TaskStatus } from "../contract/index.js";
import type { Coroutine, Query } from "../db/index.js";
import type { NetPolicy } from "../net/policy.js";
import type { ListedJob, Queue } from "../queue/types.js";
import type { ChannelKey, ChannelRow, SenderTables, TaskTargetRow } from "../store/sender-tables.js";
import type { TaskPlace } from "../store/sender-upkeep.js";
import { channelOrderingKey } from "./channel.js";
import { endpointAt, endpointOf, operationUrl, ownSegment } from "./endpoint-names.js";
import { checkMovedUrl } from "./endpoint-url.js";
import { isKnown, namesNear, OR_MOVED, unknownEndpoint } from "./known-endpoints.js";
import { movedFromProof } from "./moved-configs.js";
import type { StoredNotification } from "./notification-configs.js";
import { readableMeta, taskOrderingKey } from "./outbox.js";
import { openConfig, type StoredConfig } from "./registered-config.js";
import { endpointIn, sealedConfig, taskEndpoints } from "./registered-secrets.js";
import type { Bodies } from "./sealed-bodies.js";
import type { Keyring } from "./sealing.js";
import { configIn, readableConfig, registeredRows, registrationOf, type TargetRef } from "./stored-configs.js";
import { taskDetailsOf, unlessBroken } from "./task-details.js";
import type { PushNotificationConfig } from "./types.js";

export interface MoveParts {
  readonly queue: Queue;
  readonly tables: SenderTables;
  readonly keyring: Keyring;
  readonly bodies: Bodies;
  readonly rules: { readonly policy: NetPolicy };
  readonly now: () => number;
  readonly uuid: () => string;
}

/** What came of a move. */
export interface Moved {
  /** Name of the endpoint now; the one it had where nothing was there to be moved. */
  readonly endpoint: string;
  readonly registrations: number;
  readonly events: number;
  /** Registrations whose secrets could not be opened: they stay where they are. */
  readonly sealed: number;
  /** Of the registrations, notification configs: what is for them waits until a sender has had an answer to its challenge there. */
  readonly unproved: number;
  /** Tasks, and channels, whose rows were broken by hand, wherever what they say is: they stay as they are. */
  readonly unreadable: readonly string[];
}

/** Rows in one transaction. */
const PAGE_ROWS = 500;
const PAGE_EVENTS = 200;

interface Found {
  readonly principal: string;
  readonly came: "moved" | "unproved" | "sealed" | "unreadable";
  /** Name of its endpoint now; of what cannot be read, which it is. */
  readonly at: string;
}

interface Page<Last> {
  readonly here: readonly Found[];
  readonly last: Last | undefined;
}

interface Move {
  readonly endpoint: string;
  readonly url: string;
  /** Nothing is written. */
  readonly dry: boolean;
}

/** Those whose endpoint was never noted are looked at, each of them. */
const NEVER_NOTED = "";

export async function moveEndpoint(parts: MoveParts, endpoint: string, url: string): Promise<Moved> {
  const checked = operationUrl(url, "0");
  checkMovedUrl(checked, parts.rules.policy);
  // What is registered without an operation cannot go where one is named: that is found before anything is moved.
  if (checked !== url) await moveAll(parts, { endpoint, url, dry: true });
  const all = await moveAll(parts, { endpoint, url, dry: false });
  const found = all.filter(({ came }) => came !== "unreadable");
  const unreadable = [...new Set(all.flatMap(({ came, at }) => (came === "unreadable" ? [at] : [])))];
  const count = (what: Found["came"]): number => found.filter(({ came }) => came === what).length;
  const first = found.find(({ came }) => came !== "sealed");
  const { events, at } = await moveEvents(parts, endpoint);
  if (found.length === 0 && events === 0) await checkMoved(parts, endpoint, url);
  const [unproved, sealed] = [count("unproved"), count("sealed")];
  const registrations = found.length - sealed;
  return { endpoint: first?.at ?? at ?? endpoint, registrations, events, sealed, unproved, unreadable };
}

/** Who ends a move a second time is told nothing; who mistyped the name would take for moved what is not. */
async function checkMoved(parts: MoveParts, endpoint: string, url: string): Promise<void> {
  if ((await isKnown(parts, endpoint)) || (await isKnown(parts, endpointAt(endpoint, url)))) return;
  throw unknownEndpoint(endpoint, await namesNear(parts, endpoint), OR_MOVED);
}

async function moveAll(parts: MoveParts, move: Move): Promise<Found[]> {
  // Before channels: what a task has held is a channel's own where the task ends meanwhile. No place of it is noted: a move is rare.
  const found = await moveTasks(parts, move, { column: "reporting", endpoint: move.endpoint });
  for (const endpoint of [move.endpoint, NEVER_NOTED]) {
    for (const column of ["push_endpoint", "a2a_endpoint"] as const)
      found.push(...(await moveTasks(parts, move, { column, endpoint })));
    found.push(...(await moveChannels(parts, move, endpoint)));
  }
  return found;
}

/**
 * Events of an endpoint go where their registrations are now: also those whose registrations a move has taken along that was
 * broken off. A few at a time: what is acknowledged meanwhile waits for none of it.
 * @returns how many, and the name of the endpoint that one of them has gone to
 */
async function moveEvents(
  parts: MoveParts,
  from: string,
): Promise<{ readonly events: number; readonly at: string | undefined }> {
  const { queue, now } = parts;
  let [events, at]: [number, string | undefined] = [0, undefined];
  for (let after: number | undefined = 0; after !== undefined; ) {
    const jobs: ListedJob[] = await queue.list({ endpoint: from, after, limit: PAGE_EVENTS });
    const places = await queue.read((q) => placesOf(parts, q, jobs));
    for (const [to, { principal, ids }] of places) {
      if (to === from) continue;
      const few = { kind: "rehome", from, to, ids } as const;
      events += await queue.adjust(few, now(), (q) => held(parts, q, principal));
      at = to;
    }
    after = jobs.at(-1)?.id;
  }
  return { events, at };
}

interface Place {
  readonly principal: string;
  readonly ids: number[];
}

/** Jobs by the endpoint of their registration; without those that have none any more, or cannot be read. */
function* placesOf({ tables }: MoveParts, q: Query, jobs: readonly ListedJob[]): Coroutine<Map<string, Place>> {
  const deliveries = jobs.flatMap((job) => {
    const meta = readableMeta(job);
    return meta === undefined ? [] : [{ id: job.id, meta }];
  });
  const rows = yield* registeredRows(
    tables,
    q,
    deliveries.map(({ meta }) => meta.target),
  );
  const places = new Map<string, Place>();
  for (const { id, meta } of deliveries) {
    const { target, principal } = meta;
    const stored = readableConfig(rows, target);
    if (stored?.url === undefined || rows(target)?.principal !== principal) continue;
    const endpoint = endpointIn(principal, stored);
    const place = places.get(endpoint) ?? { principal, ids: [] };
    places.set(endpoint, place);
    place.ids.push(id);
  }
  return places;
}

function* held({ tables }: MoveParts, q: Query, principal: string): Coroutine<void> {
  if (tables.hold !== undefined) yield* tables.hold(q, principal);
}

async function moveTasks(parts: MoveParts, move: Move, at: Pick<TaskPlace, "column" | "endpoint">): Promise<Found[]> {
  const { queue, tables } = parts;
  const found: Found[] = [];
  for (let after: string | undefined = ""; after !== undefined; ) {
    const from: string = after;
    // What fails beside others runs again, and counts once.
    const page = await queue.transact(function* (tx): Coroutine<Page<string>> {
      const rows = yield* tables.tasksAt(tx, { ...at, after: from, limit: PAGE_ROWS });
      const here: Found[] = [];
      for (const row of rows) here.push(...(yield* moveTask(parts, tx, row, { ...move, vias: vias[at.column] })));
      return { here, last: rows.at(-1)?.task_id };
    });
    found.push(...page.here);
    after = page.last;
  }
  return found;
}

async function moveChannels(parts: MoveParts, move: Move, endpoint: string): Promise<Found[]> {
  const { queue, tables } = parts;
  const found: Found[] = [];
  for (let after: ChannelKey | undefined = { resource: "", kind: "", subscriber: "" }; after !== undefined; ) {
    const from: ChannelKey = after;
    const page = await queue.transact(function* (tx): Coroutine<Page<ChannelRow>> {
      const rows = yield* tables.channelsAt(tx, { endpoint, after: from, limit: PAGE_ROWS });
      const here: Found[] = [];
      for (const row of rows) here.push(...(yield* moveChannel(parts, tx, row, move)));
      return { here, last: rows.at(-1) };
    });
    found.push(...page.here);
    after = page.last;
  }
  return found;
}

/** The config with another URL, sealed anew; undefined where its secrets cannot be had. */
function* movedConfig(
  { tables, keyring, now }: MoveParts,
  tx: Query,
  of: {
    readonly ref: TargetRef;
    readonly stored: StoredConfig;
    readonly principal: string;
    readonly orderingKey: string;
    readonly operation: string | undefined;
  },
  { url, dry }: Move,
): Coroutine<StoredConfig | undefined> {
  const { ref, stored, principal, orderingKey } = of;
  const registration = registrationOf(ref);
  const [box] = stored.sealed === true ? yield* tables.secretsOf(tx, [registration]) : [];
  const opened = openConfig(keyring, stored, box, { principal, registration });
  if (!opened.ok) return undefined;
  const inUrl = of.operation === undefined ? operationIn(of, opened.config.url) : undefined;
  const operation = of.operation ?? inUrl;
  // Where his URL was all that named the operation, its events name it still.
  const named = inUrl !== undefined && "via" in ref && ref.via === "push" ? { operation_id: inUrl } : {};
  const config = { ...opened.config, ...named, url: operationUrl(url, operation) };
  const made = sealedConfig({ config, principal, registration, orderingKey, operation }, keyring, now());
  if (dry) return made.stored;
  if (made.row === undefined) yield* tables.dropSecrets(tx, [registration]);
  else yield* tables.putSecrets(tx, [made.row]);
  return made.stored;
}

/** The operation that only the URL names: by the name its endpoint has for it. */
function operationIn(
  { stored, principal }: { readonly stored: StoredConfig; readonly principal: string },
  url: string,
): string | undefined {
  const operation = ownSegment(url);
  const name = endpointOf({ principal, url, operation });
  return stored.endpoint === name && name !== endpointOf({ principal, url }) ? operation : undefined;
}

type TaskVia = "push" | "a2a" | "reporting";

/** What of a task is moved by what it was found by: what cannot be opened is found as often as it is looked at. */
const vias: Readonly<Record<TaskPlace["column"], readonly TaskVia[]>> = {
  push_endpoint: ["push", "a2a"],
  a2a_endpoint: ["push", "a2a"],
  reporting: ["reporting"],
};

function* moveTask(
  parts: MoveParts,
  tx: Query,
  row: TaskTargetRow,
  move: Move & { readonly vias: readonly TaskVia[] },
): Coroutine<Found[]> {
  const { principal, task_id: task } = row;
  const found: Found[] = [];
  const kept = unlessBroken(() => taskDetailsOf(row));
  if (kept === undefined) return [{ principal, came: "unreadable", at: `task ${task}` }];
  let details = kept.read;
  for (const via of move.vias) {
    const stored = details[via] as StoredConfig | undefined;
    if (stored === undefined || endpointIn(principal, stored) !== move.endpoint) continue;
    // What an ended task has held for its buy is the buy's own by now.
    if (via === "reporting" && isTerminal(row.status as TaskStatus)) continue;
    const operation = details[via === "reporting" ? via : "push"]?.operation_id;
    const orderingKey = taskOrderingKey(via === "a2a" ? via : "push", task);
    const of = { ref: { task, via }, stored, principal, orderingKey, operation };
    const next = yield* movedConfig(parts, tx, of, move);
    found.push({ principal, came: next === undefined ? "sealed" : "moved", at: endpointIn(principal, next ?? stored) });
    if (next !== undefined) details = { ...details, [via]: next };
  }
  if (!move.dry && found.some(({ came }) => came === "moved")) {
    yield* held(parts, tx, principal);
    yield* parts.tables.setTaskDetails(tx, task, JSON.stringify(details), taskEndpoints(principal, details));
  }
  return found;
}

function* moveChannel(parts: MoveParts, tx: Query, row: ChannelRow, move: Move): Coroutine<Found[]> {
  const { principal } = row;
  const ref = { channel: { resource: row.resource, kind: row.kind, subscriber: row.subscriber } };
  const kept = unlessBroken(() => configIn(row, ref));
  if (kept === undefined) return [{ principal, came: "unreadable", at: registrationOf(ref) }];
  const stored = kept.read;
  // Records have no URL: they are registrations of nothing.
  if (stored?.url === undefined || endpointIn(principal, stored) !== move.endpoint) return [];
  const operation = (stored as StoredConfig<PushNotificationConfig>).operation_id;
  const of = { ref, stored, principal, orderingKey: channelOrderingKey(row), operation };
  const next = yield* movedConfig(parts, tx, of, move);
  if (next === undefined) return [{ principal, came: "sealed", at: move.endpoint }];
  const proving = "proven" in next ? movedFromProof(next as StoredNotification, parts) : { config: next };
  const { config, ...more } = proving;
  const moved = { ...row, ...more, config: JSON.stringify(config), endpoint: endpointIn(principal, next) };
  if (!move.dry) yield* parts.tables.putChannel(tx, moved);
  return [{ principal, came: "next_fire" in more ? "unproved" : "moved", at: endpointIn(principal, next) }];
}
