/**
 * Where a delivery goes, looked up at each attempt: what is queued follows an endpoint that moved or a secret that was
 * rotated, and never goes to a new owner of its task or resource.
 */
import { isTerminal, type TaskStatus } from "../contract/index.js";
import { AdbindError } from "../errors.js";
import type { Queue } from "../queue/types.js";
import type { SecretRow } from "../store/sender-secrets.js";
import type { SenderTables } from "../store/sender-tables.js";
import { CLOSED } from "./channel-state.js";
import { openConfig } from "./registered-config.js";
import { authOf, type DeliveryAuth } from "./registration.js";
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
  /** There is none any more, it is another principal's, or its secrets cannot be had: set aside. */
  | { readonly kind: "gone"; readonly why: string };

export interface Targets {
  /** @throws what the database throws where it cannot be reached; AdbindError `job_unreadable` */
  find(of: { readonly target: TargetRef; readonly principal: string }): Promise<LookedUp>;
}

interface Asked {
  readonly of: { readonly target: TargetRef; readonly principal: string };
  readonly resolve: (found: LookedUp) => void;
  readonly reject: (error: unknown) => void;
}

/** Targets looked up in one statement: keeps its parameters to some hundreds. */
const BATCH_LIMIT = 128;

export interface TargetParts {
  readonly queue: Queue;
  readonly tables: SenderTables;
  readonly keyring: Keyring;
}

/** Attempts that begin in the same turn of the event loop share their statements. */
export function createTargets(parts: TargetParts): Targets {
  const asked: Asked[] = [];
  const lookUp = (): void => {
    const batch = asked.splice(0, BATCH_LIMIT);
    if (asked.length > 0) setImmediate(lookUp);
    found(parts, batch)
      .then((rows) => {
        for (const one of batch) answer(parts.keyring, one, rows);
      })
      .catch((error: unknown) => {
        for (const { reject } of batch) reject(error);
      });
  };
  return {
    find(of) {
      const { promise, resolve, reject } = Promise.withResolvers<LookedUp>();
      if (asked.length === 0) setImmediate(lookUp);
      asked.push({ of, resolve, reject });
      return promise;
    },
  };
}

/** Looks, between which a registration may be changed: its row and its secrets are read one after the other. */
const LOOKS = 3;

async function found({ queue, tables, keyring }: TargetParts, batch: readonly Asked[]): Promise<Rows> {
  const refs = batch.map(({ of }) => of.target);
  for (let look = 1; ; look++) {
    const registered = await queue.read((q) => registeredRows(tables, q, refs));
    const sealed = refs.filter((ref) => readableConfig(registered, ref)?.sealed === true);
    if (sealed.length === 0) return { registered, secrets: new Map() };
    const names = [...new Set(sealed.map(registrationOf))];
    const rows = await queue.read((q) => tables.secretsOf(q, names));
    if (!rows.every((row) => keyring.knows(row.key_id))) await keyring.refresh();
    const secrets = new Map(rows.map((row) => [row.registration, row]));
    const agree = sealed.every((ref) => {
      const [row, box] = [registered(ref)!, secrets.get(registrationOf(ref))];
      const owner = { principal: row.principal, registration: registrationOf(ref) };
      return openConfig(keyring, configIn(row, ref)!, box, owner).ok;
    });
    if (agree || look === LOOKS) return { registered, secrets };
  }
}

interface Rows {
  readonly registered: RegisteredRows;
  readonly secrets: ReadonlyMap<string, SecretRow>;
}

/** One row that cannot be read fails its own delivery. */
function answer(keyring: Keyring, { of, resolve, reject }: Asked, rows: Rows): void {
  try {
    resolve(foundIn(keyring, of, rows));
  } catch (cause) {
    reject(new AdbindError("job_unreadable", "the registration it goes by cannot be read", { cause }));
  }
}

const gone = (why: string): LookedUp => ({ kind: "gone", why });

function foundIn(keyring: Keyring, { target, principal }: Asked["of"], rows: Rows): LookedUp {
  const row = rows.registered(target);
  if (row === undefined) return gone("its registration is not there any more");
  if (row.principal !== principal) return gone("its registration belongs to another principal now");
  const stored = configIn(row, target);
  if (stored == null) return gone("its channel was closed");
  const registration = registrationOf(target);
  const opened = openConfig(keyring, stored, rows.secrets.get(registration), { principal, registration });
  if (!opened.ok) return gone(opened.why);
  const { url, token, authentication } = opened.config;
  const native = "via" in target && target.via === "a2a";
  const over = "details" in row ? isTerminal(row.status as TaskStatus) : row.closed === CLOSED;
  return {
    kind: "found",
    target: { url, auth: authOf(authentication), ...(native ? { a2aToken: token } : { token }) },
    erasable: over && stored.sealed === true ? registration : undefined,
  };
}
