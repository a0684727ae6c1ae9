/** Rows of sealed secrets: made with a registration, checked while it lives, erased when what it is for is over. */
import { isTerminal, type TaskStatus } from "../contract/index.js";
import type { Coroutine, Query } from "../db/index.js";
import type { Queue } from "../queue/types.js";
import type { SecretRow } from "../store/sender-secrets.js";
import type { SenderTables, TaskEndpoints } from "../store/sender-tables.js";
import { CLOSED } from "./channel-state.js";
import { endpointOf, patternOf } from "./endpoint-names.js";
import { type AnyConfig, type StoredConfig, splitConfig } from "./registered-config.js";
import type { Keyring } from "./sealing.js";
import { registeredRows, type TargetRef } from "./stored-configs.js";
import type { TaskDetails } from "./task-details.js";

/** How often it is looked whether a registration that lives still does, in milliseconds. */
const LIVING_CHECK_MS = 86_400_000;
/** The same where only events that wait or are kept need its secrets still. */
const ENDED_CHECK_MS = 600_000;
/** Rows looked at in one transaction. */
const CHECK_LIMIT = 200;

/** A registration that is made or changed. */
export interface Registering<Config extends AnyConfig = AnyConfig> {
  readonly config: Config;
  readonly principal: string;
  readonly registration: string;
  readonly orderingKey: string;
  /** Id of its operation, which its URL may carry. */
  readonly operation?: string | undefined;
}

/** What is stored of it, and the row of its secrets, where it has any. */
export function sealedConfig<Config extends AnyConfig>(
  { config, principal, registration, orderingKey, operation }: Registering<Config>,
  keyring: Keyring,
  now: number,
): { readonly stored: StoredConfig<Config>; readonly row: SecretRow | undefined; readonly endpoint: string } {
  const endpoint = endpointOf({ principal, url: config.url, operation });
  const named = patternOf(config.url, operation) !== config.url;
  const { stored, secrets } = splitConfig(config, { endpoint, named, seals: keyring.seals });
  if (secrets === undefined) return { stored, row: undefined, endpoint };
  const box = keyring.seal(secrets, { principal, registration, url: stored.url });
  const row = { ...box, registration, principal, endpoint, ordering_key: orderingKey, check_at: now + LIVING_CHECK_MS };
  return { stored, row, endpoint };
}

/** Name of the endpoint of a config as it stands in its row. */
export const endpointIn = (principal: string, { url, endpoint }: StoredConfig): string =>
  endpoint ?? endpointOf({ principal, url });

/** Names of a task's endpoints, as they stand beside its details. */
export const taskEndpoints = (principal: string, { push, a2a }: TaskDetails): TaskEndpoints => ({
  push_endpoint: push === undefined ? null : endpointIn(principal, push),
  a2a_endpoint: a2a === undefined ? null : endpointIn(principal, a2a),
});

/** Where a registration stands, by its name; undefined for a name nobody gave. */
export function namedRegistration(name: string): TargetRef | undefined {
  const [kind, ...rest] = JSON.parse(name) as string[];
  const [first, second, third] = rest;
  if ((kind === "push" || kind === "a2a" || kind === "reporting") && first !== undefined)
    return { task: first, via: kind };
  if (kind !== "channel" || first === undefined || second === undefined || third === undefined) return undefined;
  return { channel: { resource: first, kind: second, subscriber: third } };
}

/** Names of those, of some, that nothing more is made for. */
function* endedOf({ tables }: CheckParts, tx: Query, rows: readonly SecretRow[]): Coroutine<Set<string>> {
  const named = rows.map(({ registration }) => [registration, namedRegistration(registration)] as const);
  const registered = yield* registeredRows(
    tables,
    tx,
    named.flatMap(([, ref]) => (ref === undefined ? [] : [ref])),
  );
  const lives = (ref: TargetRef | undefined): boolean => {
    const row = ref && registered(ref);
    if (row === undefined) return false;
    return "details" in row ? !isTerminal(row.status as TaskStatus) : row.closed !== CLOSED && row.config !== "null";
  };
  return new Set(named.filter(([, ref]) => !lives(ref)).map(([name]) => name));
}

export interface CheckParts {
  readonly queue: Queue;
  readonly tables: SenderTables;
}

/**
 * Erases the secrets of registrations that are over, unless an event of theirs waits or is kept: that could not be sent, or
 * sent again, without them.
 * @returns how many rows it looked at
 */
export function* eraseSecrets(parts: CheckParts, tx: Query, now: number): Coroutine<number> {
  const { queue, tables } = parts;
  const rows = yield* tables.dueSecrets(tx, now, CHECK_LIMIT);
  if (rows.length === 0) return 0;
  const ended = yield* endedOf(parts, tx, rows);
  const over = rows.filter(({ registration }) => ended.has(registration));
  const orderingKeys = [...new Set(over.map((row) => row.ordering_key))];
  const found = yield* tables.orderedJobs(tx, queue.topic, orderingKeys);
  const needed = new Set(found.map((row) => row.ordering_key));
  const namesOf = (some: readonly SecretRow[]): string[] => some.map(({ registration }) => registration);
  yield* tables.dropSecrets(tx, namesOf(over.filter((row) => !needed.has(row.ordering_key))));
  const kept = namesOf(over.filter((row) => needed.has(row.ordering_key)));
  yield* tables.checkSecrets(tx, kept, now + ENDED_CHECK_MS);
  const lives = namesOf(rows.filter(({ registration }) => !ended.has(registration)));
  yield* tables.checkSecrets(tx, lives, now + LIVING_CHECK_MS);
  return rows.length;
}
