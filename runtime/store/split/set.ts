/** Which set some databases are, read from them: the latest version that any of them knows. */
import type { Coroutine } from "../../db/coroutine.js";
import type { Database, Query } from "../../db/types.js";
import { AdbindError } from "../../errors.js";
import { INTENTS } from "../intent-documents.js";
import { indexesOf } from "./indexes.js";
import type { SetMember } from "./member.js";
import { checkName, everyMember, firstSet, memberNames, type SplitKind, type SplitSet } from "./placement.js";
import { type OwnSet, readSplitSet, writeSplitSet } from "./rows.js";

const invalid = (what: string, where: string, remedy: string): AdbindError =>
  new AdbindError("split_invalid", what, { where, remedy });

/** @throws AdbindError `store_option_invalid`, `split_invalid` */
export function checkMemberNames(names: readonly string[]): void {
  for (const name of names) checkName(name);
  if (names.length === 0) throw invalid("a split has no database", "databases", "give at least one");
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) throw invalid("two databases of a split have one name", twice, "give each its own");
}

/** What a database says of itself. */
export interface FoundSet<P> {
  readonly member: SetMember<P>;
  readonly known: OwnSet | undefined;
}

/** Asks each member; those that are away are left out. @param must every one has to answer */
export async function findSets<P>(
  members: Iterable<SetMember<P>>,
  kind: SplitKind,
  must = false,
): Promise<FoundSet<P>[]> {
  const ask = async (member: SetMember<P>): Promise<FoundSet<P>> => {
    const known = await member.use((_, database) => database.query((q) => readSplitSet(q, kind)));
    if (known !== undefined && known.own !== member.name) {
      throw invalid(
        `the database that is given as ${member.name} is ${known.own} of its set`,
        member.name,
        "give each database by the name it has",
      );
    }
    return { member, known };
  };
  const answers = await Promise.allSettled([...members].map(ask));
  const faults = answers.filter((one) => one.status === "rejected").map(({ reason }) => reason as unknown);
  const wrong = faults.find((fault) => fault instanceof AdbindError && fault.code === "split_invalid");
  if (wrong !== undefined) throw wrong;
  const found = answers.filter((one) => one.status === "fulfilled").map(({ value }) => value);
  if (faults.length > 0 && (must || found.length === 0)) throw faults[0];
  return found;
}

/** The latest set that some databases know. @throws AdbindError `split_invalid` where they are of different sets */
export function latestOf<P>(found: readonly FoundSet<P>[]): SplitSet | undefined {
  const known = found.flatMap((one) => (one.known === undefined ? [] : [{ ...one.known, name: one.member.name }]));
  const [latest] = known.sort((a, b) => b.set.version - a.set.version);
  const other = known.find(({ set }) => set.id !== latest!.set.id);
  if (other !== undefined) {
    throw invalid(
      `the databases ${latest!.name} and ${other.name} are of different sets`,
      other.name,
      "give the databases of one set; `adbind split status` shows what each knows",
    );
  }
  return latest?.set;
}

/** Has the databases of a set know it, where they know less. */
export async function tellSet<P>(found: readonly FoundSet<P>[], kind: SplitKind, set: SplitSet): Promise<void> {
  const names = memberNames(everyMember(set));
  const behind = found.filter(
    ({ member, known }) => names.includes(member.name) && (known?.set.version ?? 0) < set.version,
  );
  await Promise.all(
    behind.map(({ member, known }) =>
      member.use((_, database) =>
        database.write(function* (q) {
          if (known === undefined) yield* makeIndexes(q, kind);
          yield* writeSplitSet(q, kind, { own: member.name, set });
        }),
      ),
    ),
  );
}

/** Of what is one of several only: what is alone is written faster without them. */
function* makeIndexes(q: Query, kind: SplitKind): Coroutine<void> {
  yield* q.lock("adbind split");
  for (const text of indexesOf[kind]) yield* q.run(text);
}

/** Tables of what a keyspace has. */
const owned: Readonly<Record<SplitKind, readonly string[]>> = {
  sender: ["adbind_senders", "adbind_registrations"],
  principal: [
    ...["adbind_sent_tasks", "adbind_channels", "adbind_jobs", "adbind_calls", "adbind_seller_tasks"],
    `adbind_documents where owner <> '' and collection <> '${INTENTS}'`,
  ],
};

/** Does a database hold nothing of a kind? */
export function* isFresh(q: Query, kind: SplitKind): Coroutine<boolean> {
  for (const table of owned[kind]) {
    const [row] = yield* q.rows(`select 1 as one from ${table} limit 1`);
    if (row !== undefined) return false;
  }
  return true;
}

const freshness = (database: Database, kind: SplitKind): Promise<boolean> => database.query((q) => isFresh(q, kind));

/**
 * The set of some databases; of new ones, the first.
 * @throws AdbindError `split_invalid` for databases that are of no set and not new
 */
export async function openSet<P>(members: ReadonlyMap<string, SetMember<P>>, kind: SplitKind): Promise<SplitSet> {
  const found = await findSets(members.values(), kind);
  const latest = latestOf(found);
  if (latest !== undefined) {
    await tellSet(found, kind, latest);
    return latest;
  }
  // Nobody knows yet which keyspaces there are: every one of them has to say that it has none.
  const all = await findSets(members.values(), kind, true);
  for (const { member } of all) {
    if (await member.use((_, database) => freshness(database, kind))) continue;
    throw invalid(
      "the database has rows of before it was one of several",
      member.name,
      "run `adbind split init` on it alone, and `adbind split add` for the others",
    );
  }
  await tellSet(all, kind, firstSet([...members.keys()]));
  // Another instance may have been first, with another list.
  return latestOf(await findSets(members.values(), kind, true))!;
}
