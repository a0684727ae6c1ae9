/** Moves an endpoint: what is registered there goes to another URL, and its events with it. */
import type { Coroutine, Query } from "../db/index.js";
import { AdbindError } from "../errors.js";
import { NetFault, publicReason } from "../net/codes.js";
import type { NetPolicy } from "../net/policy.js";
import { checkTarget } from "../net/target.js";
import type { Queue } from "../queue/types.js";
import type { ChannelRow, SenderTables, TaskTargetRow } from "../store/sender-tables.js";
import { channelOrderingKey } from "./channel.js";
import { endpointOf, taskOrderingKey } from "./outbox.js";
import { openConfig, type StoredConfig } from "./registered-config.js";
import { sealedConfig } from "./registered-secrets.js";
import type { Bodies } from "./sealed-bodies.js";
import type { Keyring } from "./sealing.js";
import { configIn, registrationOf, type TargetRef } from "./stored-configs.js";
import type { TaskDetails } from "./task-details.js";

export interface MoveParts {
  readonly queue: Queue;
  readonly tables: SenderTables;
  readonly keyring: Keyring;
  readonly bodies: Bodies;
  readonly rules: { readonly policy: NetPolicy };
  readonly now: () => number;
}

/** What came of a move. */
export interface Moved {
  /** Name of the endpoint now; the one it had where nothing was registered there. */
  readonly endpoint: string;
  readonly registrations: number;
  readonly events: number;
  /** Registrations whose secrets could not be opened: they stay where they are. */
  readonly sealed: number;
}

/** Rows looked at in one transaction: all there are, since no index has an endpoint's registrations. */
const PAGE_ROWS = 500;

interface Found {
  readonly principal: string;
  readonly came: "moved" | "sealed";
}

export async function moveEndpoint(parts: MoveParts, endpoint: string, url: string): Promise<Moved> {
  checkUrl(url, parts.rules.policy);
  const found: Found[] = [];
  const { queue, tables } = parts;
  for (let after: string | undefined = ""; after !== undefined; ) {
    const from: string = after;
    after = await queue.transact(function* (tx) {
      const rows = yield* tables.tasksAfter(tx, from, PAGE_ROWS);
      for (const row of rows) found.push(...(yield* moveTask(parts, tx, row, { endpoint, url })));
      return rows.at(-1)?.task_id;
    });
  }
  await queue.transact(function* (tx) {
    for (const row of yield* tables.openChannels(tx))
      found.push(...(yield* moveChannel(parts, tx, row, { endpoint, url })));
  });
  const moved = found.filter(({ came }) => came === "moved");
  const [first] = moved;
  const to = first === undefined ? endpoint : endpointOf({ principal: first.principal, url });
  const events = first === undefined ? 0 : await queue.adjust({ kind: "rehome", from: endpoint, to }, parts.now());
  return { endpoint: to, registrations: moved.length, events, sealed: found.length - moved.length };
}

function checkUrl(url: string, policy: NetPolicy): void {
  try {
    checkTarget(url, policy);
  } catch (error) {
    if (!(error instanceof NetFault)) throw error;
    throw new AdbindError("registration_invalid", `events cannot go there: ${publicReason(error.code)}`, {
      where: "url",
      remedy: "give an https URL on the public internet",
    });
  }
}

interface Move {
  readonly endpoint: string;
  readonly url: string;
}

const endpointIn = (principal: string, { url, endpoint }: StoredConfig): string =>
  endpoint ?? endpointOf({ principal, url });

/** The config with another URL, sealed anew; undefined where its secrets cannot be had. */
function* movedConfig(
  { tables, keyring, now }: MoveParts,
  tx: Query,
  of: {
    readonly ref: TargetRef;
    readonly stored: StoredConfig;
    readonly principal: string;
    readonly orderingKey: string;
  },
  url: string,
): Coroutine<StoredConfig | undefined> {
  const { ref, stored, principal, orderingKey } = of;
  const registration = registrationOf(ref);
  const [box] = stored.sealed === true ? yield* tables.secretsOf(tx, [registration]) : [];
  const opened = openConfig(keyring, stored, box, { principal, registration });
  if (!opened.ok) return undefined;
  const config = { ...opened.config, url };
  const made = sealedConfig({ config, principal, registration, orderingKey }, keyring, now());
  if (made.row === undefined) yield* tables.dropSecrets(tx, [registration]);
  else yield* tables.putSecrets(tx, [made.row]);
  return made.stored;
}

function* moveTask(parts: MoveParts, tx: Query, row: TaskTargetRow, { endpoint, url }: Move): Coroutine<Found[]> {
  const { principal, task_id: task } = row;
  const found: Found[] = [];
  let details = JSON.parse(row.details) as TaskDetails;
  for (const via of ["push", "a2a"] as const) {
    const stored = details[via] as StoredConfig | undefined;
    if (stored === undefined || endpointIn(principal, stored) !== endpoint) continue;
    const of = { ref: { task, via }, stored, principal, orderingKey: taskOrderingKey(via, task) };
    const next = yield* movedConfig(parts, tx, of, url);
    found.push({ principal, came: next === undefined ? "sealed" : "moved" });
    if (next !== undefined) details = { ...details, [via]: next };
  }
  if (found.some(({ came }) => came === "moved")) yield* parts.tables.setTaskDetails(tx, task, JSON.stringify(details));
  return found;
}

function* moveChannel(parts: MoveParts, tx: Query, row: ChannelRow, { endpoint, url }: Move): Coroutine<Found[]> {
  const { principal } = row;
  const ref = { channel: { resource: row.resource, kind: row.kind, subscriber: row.subscriber } };
  const stored = configIn(row, ref);
  if (stored == null || endpointIn(principal, stored) !== endpoint) return [];
  const next = yield* movedConfig(parts, tx, { ref, stored, principal, orderingKey: channelOrderingKey(row) }, url);
  if (next === undefined) return [{ principal, came: "sealed" }];
  yield* parts.tables.putChannel(tx, { ...row, config: JSON.stringify(next) });
  return [{ principal, came: "moved" }];
}
