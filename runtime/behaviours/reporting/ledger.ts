/**
 * What was promised to an account, and what was given: an obligation stands from the end of its period on, whether or not there
 * is a report. A report, once it is given, does not change; what was wrong in it is set right by an adjustment.
 */

import { hash } from "node:crypto";
import canonicalize from "canonicalize";
import type { JsonObject } from "../../contract/index.js";
import type { BehaviourCall } from "../frame/call.js";
import { collection, type DocumentOwner, type OwnedPart, ownerText } from "../frame/collection.js";
import { isLate } from "../frame/patience.js";
import type { ControlTotal, FeedAccount, FeedPeriod, FeedReport, ReportFeed } from "../ports/report-feeds.js";
import {
  currentOf,
  dropStatements,
  periodSubject,
  type RecordedStatement,
  statementSubject,
  statementsOf,
} from "./consumer-status.js";
import { dropReceipts, type RecordedReceipt, receiptsOf } from "./kept-receipts.js";
import { checkedFeed, elapsedPeriods, expectedAt } from "./schedule.js";

/** How long a report that is late is still waited for, in seconds; from then on somebody has to do something. */
export const RECOVERY_SECONDS = 2 * 3600;

export type ReportHealth = "waiting" | "healthy" | "delayed" | "action_required" | "complete";

/** A report as it was given, and its rows. */
export interface ReportRevision {
  readonly id: string;
  readonly obligationId: string;
  readonly feed: ReportFeed;
  readonly period: FeedPeriod;
  readonly digest: string;
  readonly rows: readonly JsonObject[];
  readonly totals: readonly ControlTotal[];
  readonly createdAt: string;
  /** Place among the changes of the ledger. */
  readonly sequence: number;
}

export interface ReportAdjustment {
  readonly id: string;
  readonly revisionId: string;
  readonly obligationId: string;
  readonly period: FeedPeriod;
  readonly deltas: readonly ControlTotal[];
  readonly reason: string;
  readonly createdAt: string;
  readonly sequence: number;
}

export interface Obligation {
  readonly id: string;
  readonly feed: ReportFeed;
  readonly period: FeedPeriod;
  readonly expectedAt: string;
  /** From here on it does not mend by itself. */
  readonly deadline: string;
  readonly health: ReportHealth;
  readonly revision: ReportRevision | undefined;
  readonly adjustments: readonly ReportAdjustment[];
  /** What the consumer said of it, oldest first, and what holds of that. */
  readonly statements: readonly RecordedStatement[];
  readonly statement: RecordedStatement | undefined;
  /** What the consumer said of corrections, oldest first. */
  readonly receipts: readonly RecordedReceipt[];
}

interface LedgerState {
  readonly sequence: number;
  /** A test's clock, in milliseconds since the epoch. */
  readonly now?: number;
}

const revisions = collection<ReportRevision>("report_revision");
const adjustments = collection<ReportAdjustment>("report_adjustment");
const states = collection<LedgerState>("report_ledger");
const seeded = collection<ReportFeed>("report_feed");

/** The books of one account. */
export interface ReportLedger {
  readonly account: FeedAccount;
  readonly owner: DocumentOwner;
  readonly now: number;
  readonly sequence: number;
  /** Oldest first. */
  readonly obligations: readonly Obligation[];
  readonly feeds: readonly ReportFeed[];
  /** A test has put the feeds there, and says itself what is known of them. */
  readonly seeded: boolean;
}

export const canonicalDigest = (value: unknown): string => hash("sha256", canonicalize(value) ?? "", "hex");

const idOf = (prefix: string, ...parts: readonly unknown[]): string =>
  `${prefix}_${canonicalDigest(parts).slice(0, 24)}`;

/** What a report's digest is over: who reads all of its rows can say that they are these. */
export const contentDigest = (id: string, { rows, totals }: FeedReport): string =>
  canonicalDigest({ reporting_revision_id: id, row_count: rows.length, control_totals: totals, reporting_rows: rows });

/** A report was given, and its consumer says that it has not got it, or cannot use it. */
export const isDisputed = ({ revision, statement }: Pick<Obligation, "revision" | "statement">): boolean =>
  revision !== undefined && statement !== undefined && statement.statement.consumer_status !== "received";

const healthOf = (
  now: number,
  { due, deadline }: { readonly due: number; readonly deadline: number },
  given: Pick<Obligation, "revision" | "statement">,
): ReportHealth => {
  if (isDisputed(given)) return "action_required";
  if (given.revision !== undefined) return "complete";
  return now <= due ? "waiting" : now <= deadline ? "delayed" : "action_required";
};

/** Whose the books are. */
const accountPart = ({ principal, accountId }: FeedAccount): OwnedPart => ({ principal, part: accountId });

/** Where the books stood at some time: by their changes, and by the clock, in milliseconds since the epoch. */
export type LedgerPoint = Pick<ReportLedger, "sequence" | "now">;

/**
 * The books as they stand, with the reports that have become known since.
 * @param at how they stood then; how they stand now where left out
 */
export async function openReportLedger(
  call: BehaviourCall,
  account: FeedAccount,
  at?: LedgerPoint,
): Promise<ReportLedger> {
  const owner = accountPart(account);
  const state = (await states.get(call, owner, "ledger")) ?? { sequence: 0 };
  const { sequence, now } = at ?? { sequence: state.sequence, now: state.now ?? call.now.getTime() };
  const known = <T extends { readonly sequence: number }>(all: readonly T[]): T[] =>
    all.filter((one) => at === undefined || one.sequence <= sequence);
  const own = await seeded.list(call, owner);
  const feeds = own.length > 0 ? own : ((await call.ports.reporting.feeds?.(account)) ?? []).map(checkedFeed);
  const ofIt = <T extends { readonly obligationId: string }>(all: readonly T[]) =>
    Map.groupBy(all, ({ obligationId }) => obligationId);
  const given = ofIt(known(await revisions.list(call, owner)));
  const corrected = ofIt(known(await adjustments.list(call, owner)));
  const received = ofIt(known(await receiptsOf(call, owner)));
  const said = Map.groupBy(
    known(await statementsOf(call, owner)).sort((a, b) => a.sequence - b.sequence),
    ({ statement }) => statementSubject(statement),
  );
  const obligations = feeds.flatMap((feed) =>
    elapsedPeriods(feed.schedule, Date.parse(feed.since), now).map((period): Obligation => {
      const id = idOf("obl", ownerText(owner), feed.id, feed.version, period.start);
      const due = expectedAt(period, feed.schedule);
      const deadline = Date.parse(due) + RECOVERY_SECONDS * 1000;
      const [revision] = given.get(id) ?? [];
      const statements = said.get(periodSubject(feed, period)) ?? [];
      const statement = currentOf(statements);
      return {
        id,
        feed,
        period,
        expectedAt: due,
        deadline: new Date(deadline).toISOString(),
        health: healthOf(now, { due: Date.parse(due), deadline }, { revision, statement }),
        revision,
        statements,
        statement,
        receipts: received.get(id) ?? [],
        adjustments: corrected.get(id) ?? [],
      };
    }),
  );
  obligations.sort((a, b) => (a.period.start < b.period.start ? -1 : a.period.start > b.period.start ? 1 : 0));
  return { account, owner, now, sequence, obligations, feeds, seeded: own.length > 0 };
}

/** Reports asked for in one call, at most: the rest is asked for with the next. */
const MAX_ASKED = 24;

/** Takes what the seller knows by now of periods without a report. */
export async function bringUpToDate(call: BehaviourCall, account: FeedAccount): Promise<ReportLedger> {
  const before = await openReportLedger(call, account);
  const { reporting } = call.ports;
  if (reporting.report === undefined || before.seeded) return before;
  const open = before.obligations.filter(({ revision }) => revision === undefined).slice(0, MAX_ASKED);
  let taken = false;
  for (const obligation of open) {
    const report = await reporting.report(obligation.feed, obligation.period, account).catch((error: unknown) => {
      const { id, period } = obligation;
      call.ctx.logger?.warn({ err: error, obligation: id, period }, "a report is not known: its source has failed");
      return isLate(error) ? "late" : undefined;
    });
    // Whoever waits does not wait for all of them, one after the other.
    if (report === "late") break;
    if (report == null) continue;
    await giveReport(call, before, obligation, report);
    taken = true;
  }
  return taken ? openReportLedger(call, account) : before;
}

/** The place of a change that is made now among the changes of the ledger. */
export const advance = async (call: BehaviourCall, owner: DocumentOwner): Promise<number> => {
  const state = (await states.get(call, owner, "ledger")) ?? { sequence: 0 };
  const sequence = state.sequence + 1;
  states.put(call, owner, "ledger", { ...state, sequence });
  return sequence;
};

/** Gives an obligation its report. */
export async function giveReport(
  call: BehaviourCall,
  { owner, now }: ReportLedger,
  { id: obligationId, feed, period }: Obligation,
  report: FeedReport,
  named?: string,
): Promise<ReportRevision> {
  const id = named ?? idOf("rev", ownerText(owner), obligationId, "1");
  const made: ReportRevision = {
    id,
    obligationId,
    feed,
    period,
    digest: contentDigest(id, report),
    rows: report.rows,
    totals: report.totals,
    createdAt: new Date(now).toISOString(),
    sequence: await advance(call, owner),
  };
  revisions.put(call, owner, id, made);
  return made;
}

/** Sets right what an official report says. */
export async function adjustReport(
  call: BehaviourCall,
  { owner, now }: ReportLedger,
  { id: revisionId, obligationId, period }: ReportRevision,
  { deltas, reason }: Pick<ReportAdjustment, "deltas" | "reason">,
): Promise<ReportAdjustment> {
  const sequence = await advance(call, owner);
  const id = idOf("adj", ownerText(owner), revisionId, sequence);
  const made = {
    id,
    revisionId,
    obligationId,
    period,
    deltas,
    reason,
    createdAt: new Date(now).toISOString(),
    sequence,
  };
  adjustments.put(call, owner, id, made);
  return made;
}

export const findRevision = (
  call: BehaviourCall,
  { owner }: ReportLedger,
  id: string,
): Promise<ReportRevision | undefined> => revisions.get(call, owner, id);

/** Begins an account's books anew with the feeds of a test, at a time of its own. */
export async function resetReportLedger(
  call: BehaviourCall,
  account: FeedAccount,
  { feeds, now }: { readonly feeds: readonly ReportFeed[]; readonly now: number },
): Promise<ReportLedger> {
  const owner = accountPart(account);
  for (const { id } of await revisions.list(call, owner)) revisions.remove(call, owner, id);
  for (const { id } of await adjustments.list(call, owner)) adjustments.remove(call, owner, id);
  for (const { id } of await seeded.list(call, owner)) seeded.remove(call, owner, id);
  await dropStatements(call, owner);
  await dropReceipts(call, owner);
  for (const feed of feeds) seeded.put(call, owner, feed.id, feed);
  states.put(call, owner, "ledger", { sequence: 0, now });
  return openReportLedger(call, account);
}

/** Sets a test's clock. */
export async function setLedgerClock(
  call: BehaviourCall,
  { owner, account }: ReportLedger,
  now: number,
): Promise<ReportLedger> {
  const state = (await states.get(call, owner, "ledger")) ?? { sequence: 0 };
  states.put(call, owner, "ledger", { ...state, now });
  return openReportLedger(call, account);
}
