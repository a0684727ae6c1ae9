/** Rotation of the keys of secrets and of bodies: every row is sealed anew under the current one, a few at a time, while senders run. */
import type { Coroutine, Query } from "../db/index.js";
import type { SecretRow } from "../store/sender-secrets.js";
import type { SenderTables } from "../store/sender-tables.js";
import { namedRegistration } from "./registered-secrets.js";
import { type Resealed, type ResealParts, resealBodies } from "./reseal-bodies.js";
import type { Keyring } from "./sealing.js";
import { storedConfigs } from "./stored-configs.js";

/** Rows in one transaction. */
const PAGE_ROWS = 100;

/** @throws AdbindError `secret_keys_invalid` where there is no key */
export async function resealSecrets(parts: ResealParts): Promise<Resealed> {
  const { queue, tables, keyring } = parts;
  const counts = { resealed: 0, current: 0, lost: 0, foreign: 0 };
  let after = "";
  for (;;) {
    const page = await queue.transact((tx) => resealPage(tables, keyring, tx, after));
    for (const what of page.came) counts[what] += 1;
    if (page.last === undefined) break;
    after = page.last;
  }
  for (const what of await resealBodies(parts)) counts[what] += 1;
  return counts;
}

interface Page {
  readonly came: readonly (keyof Resealed)[];
  /** Name of its last row; undefined where there was none. */
  readonly last: string | undefined;
}

function* resealPage(tables: SenderTables, keyring: Keyring, tx: Query, after: string): Coroutine<Page> {
  const rows = yield* tables.secretsAfter(tx, after, PAGE_ROWS);
  const old = rows.filter((row) => row.key_id !== keyring.current);
  const refs = old.map(({ registration }) => namedRegistration(registration));
  const stored = yield* storedConfigs(
    tables,
    tx,
    refs.filter((ref) => ref !== undefined),
  );
  const came: (keyof Resealed)[] = rows.slice(old.length).map(() => "current");
  for (const [at, row] of old.entries()) {
    const ref = refs[at];
    came.push(yield* reseal({ tables, keyring, tx }, row, ref && stored(ref)?.url));
  }
  return { came, last: rows.at(-1)?.registration };
}

function* reseal(
  { tables, keyring, tx }: { readonly tables: SenderTables; readonly keyring: Keyring; readonly tx: Query },
  row: SecretRow,
  url: string | undefined,
): Coroutine<keyof Resealed> {
  if (!keyring.knows(row.key_id)) return "lost";
  if (url === undefined) return "foreign";
  const owner = { principal: row.principal, registration: row.registration, url };
  const opened = keyring.open(row, owner);
  if (!opened.ok) return "foreign";
  yield* tables.resealSecret(tx, row, keyring.seal(opened.text, owner));
  return "resealed";
}
