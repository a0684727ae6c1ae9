/** What goes to everybody who asked for it: each principal is told in its own database. */
import type { MaybePromise } from "../../contract/index.js";
import { AdbindError } from "../../errors.js";
import type { ChannelRow } from "../../store/sender-tables.js";
import type { Emitted, OwnedOptions } from "../types.js";
import type { OneSender, SplitSenders } from "./members.js";

/** Principals told at a time. */
const TOGETHER = 8;

const unnamed = (where: string): AdbindError =>
  new AdbindError(
    "split_wrong_database",
    "those who are to be told are in several databases, and a transaction is of one",
    {
      where,
      remedy: "give `principal` for each of those whose database it is, or leave tx out",
    },
  );

/** Some were told and others not: to tell everybody again would tell those twice. */
function untold(where: string, principals: readonly string[], cause: unknown): AdbindError {
  const more = principals.length > 3 ? ` and ${principals.length - 3} more` : "";
  const who = `${principals.slice(0, 3).join(", ")}${more}`;
  return new AdbindError("database_unreachable", `some were told, and could not be: ${who}`, {
    where,
    remedy: "tell each of those again with `principal`, when their database answers",
    cause,
  });
}

/** What is told, and to whom. */
export interface Notice {
  readonly where: string;
  /** Rows of those who may be told, in one database. */
  readonly rows: (one: OneSender) => Promise<readonly Pick<ChannelRow, "principal">[]>;
  /** Tells one principal. */
  readonly tell: (one: OneSender, principal: string | undefined) => MaybePromise<Emitted>;
}

/** @throws AdbindError `database_unreachable` where some could not be told: it says who */
export function toldEach(
  senders: SplitSenders,
  { where, rows, tell }: Notice,
  { tx, principal }: OwnedOptions,
): MaybePromise<Emitted> {
  if (tx !== undefined) {
    if (principal === undefined) throw unnamed(where);
    return senders.within(tx, (one) => tell(one, principal));
  }
  if (principal !== undefined) return senders.at(principal, (one) => tell(one, principal));
  return toldAll(senders, { where, rows, tell });
}

async function toldAll(senders: SplitSenders, { where, rows, tell }: Notice): Promise<Emitted> {
  const found = await senders.everywhere(rows);
  const away = found.find((one) => one.status === "rejected");
  // Whoever is there nobody knows: nobody is told yet.
  if (away !== undefined) throw away.reason;
  const principals = [
    ...new Set(found.flatMap((one) => (one.status === "fulfilled" ? one.value.map((row) => row.principal) : []))),
  ];
  // Nobody is to be told, and what would be is judged all the same.
  if (principals.length === 0) return tell(senders.any(), undefined);
  const keys: string[] = [];
  const failed: [principal: string, reason: unknown][] = [];
  for (let at = 0; at < principals.length; at += TOGETHER) {
    const some = principals.slice(at, at + TOGETHER);
    const told = await Promise.allSettled(some.map((one) => senders.at(one, (sender) => tell(sender, one))));
    for (const [index, one] of told.entries()) {
      if (one.status === "fulfilled") keys.push(...one.value.keys);
      else failed.push([some[index]!, one.reason]);
    }
  }
  const [first] = failed;
  if (first === undefined) return { keys };
  if (failed.length === principals.length) throw first[1];
  throw untold(
    where,
    failed.map(([one]) => one),
    first[1],
  );
}
