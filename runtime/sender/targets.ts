/**
 * Where a delivery goes, looked up at each attempt: what is queued follows an endpoint that moved or a secret that was
 * rotated, and never goes to a new owner of its task or resource.
 */
import { isTerminal, type MaybePromise, type TaskStatus } from "../contract/index.js";
import { isPromise } from "../db/index.js";
import { AdbindError } from "../errors.js";
import type { JobTask, Queue } from "../queue/types.js";
import type { SecretRow } from "../store/sender-secrets.js";
import type { SenderTables } from "../store/sender-tables.js";
import { CLOSED } from "./channel-state.js";
import { inTime } from "./deadline.js";
import { type AskingConfig, asksFor } from "./notification-kinds.js";
import { openConfig, type StoredConfig } from "./registered-config.js";
import { authOf, type DeliveryAuth } from "./registration.js";
import type { SenderReleases } from "./releases.js";
import type { Keyring } from "./sealing.js";
import {
  configIn,
  type RegisteredRows,
  readableConfig,
  registeredRows,
  registrationOf,
  type TargetRef,
} from "./stored-configs.js";

export interface DeliveryTarget {
  readonly url: string;
  /** Name of its endpoint, where the URL does not tell. */
  readonly endpoint?: string | undefined;
  readonly auth: DeliveryAuth;
  /** A2A's own token header. */
  readonly a2aToken?: string | undefined;
  /** Goes into the body. */
  readonly token?: string | undefined;
}

export type LookedUp =
  | {
      readonly kind: "found";
      readonly target: DeliveryTarget;
      /** Name of a registration that is over, and whose secrets may be erased when this was sent. */
      readonly erasable: string | undefined;
    }
  /** It was moved, and is to answer a challenge where it is now: later. */
  | { readonly kind: "unproved" }
  /** `gone`: there is none any more, or it is another principal's: set aside. `shut`: its secrets do not open. */
  | { readonly kind: "gone" | "shut"; readonly why: string };

/** What is asked for soon. */
export interface Expected {
  readonly target: TargetRef;
  /** Its task, where that was looked up already. */
  readonly task?: JobTask | undefined;
}

export interface Targets {
  /** Looks up what is asked for soon. */
  expect(all: readonly Expected[]): void;
  /**
   * Answers at once where what was looked up is here: an event of which nothing is asked waits for nobody.
   * @throws what the database throws where it cannot be reached, the application where it may not say or has no keys, LateAnswer
   * where it does not answer; AdbindError `job_unreadable`
   */
  find(of: TargetQuery): MaybePromise<LookedUp>;
}

/** A delivery whose target is looked up. */
export interface TargetQuery extends Expected {
  readonly principal: string;
  /** As its event names it. */
  readonly type: string;
  /** The account it tells an agent of. */
  readonly account?: string | undefined;
}

/** May a principal be told of an account now? */
export type Authorized = (principal: string, account: string) => MaybePromise<boolean>;

/** How old what was looked up ahead may be when an attempt goes by it, in milliseconds. */
const FRESH_MS = 1_000;
/** Targets looked up in one statement. */
const BATCH_LIMIT = 256;

export interface TargetParts {
  readonly queue: Queue;
  readonly tables: SenderTables;
  readonly keyring: Keyring;
  readonly releases: SenderReleases;
  readonly authorized?: Authorized | undefined;
  /** Milliseconds it has to answer. */
  readonly callbackMs: number;
}

interface Looked {
  readonly at: number;
  /** Themselves, once they have come. */
  rows: MaybePromise<Rows>;
}

const isFresh = (at: number): boolean => at > performance.now() - FRESH_MS;

/** Registrations, looked up for many at once and kept for a moment. */
class Looks {
  /** By name of a registration, the oldest first. */
  readonly #looked = new Map<string, Looked>();

  constructor(readonly parts: TargetParts) {}

  lookUp(all: readonly Expected[]): Promise<Rows> {
    const at = Math.min(performance.now(), ...all.flatMap(({ task }) => task?.lookedAt ?? []));
    const rows = rowsOf(this.parts, all);
    const found: Looked = { at, rows };
    for (const { target: ref } of all) {
      const registration = registrationOf(ref);
      this.#looked.delete(registration);
      this.#looked.set(registration, found);
    }
    return rows.then((come) => {
      found.rows = come;
      return come;
    });
  }

  /** What was looked up of one lately. It stays: events of one registration may be under way beside each other. */
  lately(target: TargetRef): MaybePromise<Rows> | undefined {
    const known = this.#looked.get(registrationOf(target));
    return known !== undefined && isFresh(known.at) ? known.rows : undefined;
  }

  forgetOld(): void {
    for (const [key, { at }] of this.#looked) {
      if (isFresh(at)) return;
      this.#looked.delete(key);
    }
  }
}

/** Looked up for many at once, when their jobs are leased; by itself where the attempt is later than that. */
export function createTargets(parts: TargetParts): Targets {
  const { authorized = () => true, keyring, callbackMs: limitMs } = parts;
  const looks = new Looks(parts);
  const answer = async (of: TargetQuery, looked: MaybePromise<Rows>): Promise<LookedUp> => {
    const rows = await looked;
    const box = rows.secrets.get(registrationOf(of.target));
    if (box === undefined || !keyring.seals || keyring.knows(box.key_id)) return answerIn(parts, of, rows);
    // Here, and not where many are looked up: those whose keys are known do not wait for a source of keys.
    await keyring.refresh();
    return answerIn(parts, of, await looks.lookUp([{ target: of.target }]));
  };
  const search = async (of: TargetQuery): Promise<LookedUp> => {
    const { target, principal, account } = of;
    if (account !== undefined && !(await inTime(authorized(principal, account), { limitMs, who: "authorized" })))
      return gone("its principal is not authorized for the account");
    return answer(of, looks.lately(target) ?? looks.lookUp([{ target }]));
  };
  return {
    expect(all) {
      looks.forgetOld();
      const sought = all.filter((one) => !isWhole(one));
      for (let at = 0; at < sought.length; at += BATCH_LIMIT) {
        // Whoever asks for one of them is told.
        looks.lookUp(sought.slice(at, at + BATCH_LIMIT)).catch(() => undefined);
      }
    },
    find(of) {
      const { target, task, account } = of;
      if (account !== undefined) return search(of);
      if (task !== undefined && isFresh(task.lookedAt) && isWhole(of))
        return answerIn(parts, of, { registered: () => task, secrets: NONE });
      const rows = looks.lately(target);
      if (rows === undefined) return search(of);
      return isPromise(rows) || rows.secrets.size > 0 ? answer(of, rows) : answerIn(parts, of, rows);
    },
  };
}

const NONE: Rows["secrets"] = new Map();

/** With its task all is known of it: there are no secrets beside. */
const isWhole = ({ target, task }: Expected): boolean =>
  task !== undefined && "task" in target && task.task_id === target.task && !isSealed(() => task, target);

const isSealed = (rows: RegisteredRows, target: TargetRef): boolean => readableConfig(rows, target)?.sealed === true;

/** Looks, between which a registration may be changed: its row and its secrets are read one after the other. */
const LOOKS = 3;

async function rowsOf({ queue, tables, keyring }: TargetParts, all: readonly Expected[]): Promise<Rows> {
  const refs = all.map(({ target }) => target);
  let given = tasksIn(all);
  for (let look = 1; ; look++) {
    const asked = refs.filter((ref) => !("task" in ref && given.has(ref.task)));
    const others = asked.length === 0 ? undefined : await queue.read((q) => registeredRows(tables, q, asked));
    const known = given;
    const registered: RegisteredRows = (ref) => ("task" in ref && known.get(ref.task)) || others?.(ref);
    given = new Map();
    const sealed = refs.filter((ref) => isSealed(registered, ref));
    if (sealed.length === 0) return { registered, secrets: new Map() };
    const names = [...new Set(sealed.map(registrationOf))];
    const rows = await queue.read((q) => tables.secretsOf(q, names));
    const secrets = new Map(rows.map((row) => [row.registration, row]));
    const agree = sealed.every((ref) => {
      const [row, box] = [registered(ref)!, secrets.get(registrationOf(ref))];
      // Nobody can say of it.
      if (box !== undefined && !keyring.knows(box.key_id)) return true;
      const owner = { principal: row.principal, registration: registrationOf(ref) };
      return openConfig(keyring, configIn(row, ref)!, box, owner).ok;
    });
    if (agree || look === LOOKS) return { registered, secrets };
  }
}

const tasksIn = (all: readonly Expected[]): ReadonlyMap<string, JobTask> =>
  new Map(all.flatMap(({ task }) => (task === undefined ? [] : [[task.task_id, task]])));

interface Rows {
  readonly registered: RegisteredRows;
  readonly secrets: ReadonlyMap<string, SecretRow>;
}

/** One row that cannot be read fails its own delivery. */
function answerIn(parts: TargetParts, of: TargetQuery, rows: Rows): LookedUp {
  try {
    return foundIn(parts, of, rows);
  } catch (cause) {
    throw new AdbindError("job_unreadable", "the registration it goes by cannot be read", { cause });
  }
}

const gone = (why: string): LookedUp => ({ kind: "gone", why });

/** What the configs of notifications have more than others. */
type Proving = StoredConfig & { readonly proven?: boolean; readonly active?: boolean; readonly moved?: true };

/** A config of notifications is none while it is paused, or has not answered its challenge. */
const isSilent = ({ proven, active, moved }: Proving): boolean => active === false || (proven === false && !moved);

/** Where a config is now, nobody has agreed to more than it asks for now. */
const isNotification = (stored: StoredConfig): stored is StoredConfig & AskingConfig => "event_types" in stored;

function foundIn(parts: TargetParts, { target, principal, type, account }: TargetQuery, rows: Rows): LookedUp {
  const row = rows.registered(target);
  if (row === undefined) return gone("its registration is not there any more");
  if (row.principal !== principal) return gone("its registration belongs to another principal now");
  const stored = configIn(row, target);
  if (stored == null || isSilent(stored)) return gone("its channel was closed");
  if (isNotification(stored) && !asksFor(parts.releases, stored, { kind: type, account }))
    return gone("its config does not ask for its kind any more");
  if ((stored as Proving).moved === true) return { kind: "unproved" };
  const sealed = stored.sealed === true;
  const registration = sealed ? registrationOf(target) : "";
  const opened = openConfig(parts.keyring, stored, rows.secrets.get(registration), { principal, registration });
  if (!opened.ok) return opened;
  const { url, token, authentication } = opened.config;
  const native = "via" in target && target.via === "a2a";
  const over = "details" in row ? isTerminal(row.status as TaskStatus) : row.closed === CLOSED;
  return {
    kind: "found",
    target: {
      url,
      endpoint: stored.endpoint,
      auth: authOf(authentication),
      ...(native ? { a2aToken: token } : { token }),
    },
    erasable: over && sealed ? registration : undefined,
  };
}
