/** What a consumer says of the reports it was to get: each statement stands, and the last of a period's is the current one. */
import type { JsonObject } from "../../contract/index.js";
import type { BehaviourCall } from "../frame/call.js";
import { collection, type DocumentOwner } from "../frame/collection.js";
import type { ConsumerStatement, FeedPeriod, ReportFeed } from "../ports/report-feeds.js";

/** A statement as it was recorded. */
export interface RecordedStatement {
  readonly statement: ConsumerStatement;
  readonly recordedAt: string;
  /** Place among the changes of the ledger. */
  readonly sequence: number;
}

const kept = collection<RecordedStatement>("report_consumer_status");

export const statementsOf = (call: BehaviourCall, owner: DocumentOwner): Promise<RecordedStatement[]> =>
  kept.list(call, owner);

export const keepStatement = (call: BehaviourCall, owner: DocumentOwner, one: RecordedStatement): void =>
  kept.put(call, owner, one.statement.reporting_status_id, one);

export async function dropStatements(call: BehaviourCall, owner: DocumentOwner): Promise<void> {
  for (const { statement } of await statementsOf(call, owner)) kept.remove(call, owner, statement.reporting_status_id);
}

const subjectOf = (id: string, version: unknown, definition: string, { start, end }: FeedPeriod): string =>
  JSON.stringify([id, version, definition, Date.parse(start), Date.parse(end)]);

/** What a statement is of, as one text: instants are compared, however they are written. */
export const statementSubject = (one: ConsumerStatement): string =>
  subjectOf(one.delivery_config_id, one.delivery_config_version, one.report_definition_id, one.period);

/** The same of a feed and one of its periods. */
export const periodSubject = ({ id, version, definition }: ReportFeed, period: FeedPeriod): string =>
  subjectOf(id, version, definition.id, period);

/** Is it of this feed and period? */
export const isOf = (
  { delivery_config_id, delivery_config_version, report_definition_id, period: of }: ConsumerStatement,
  feed: ReportFeed,
  period: FeedPeriod,
): boolean =>
  delivery_config_id === feed.id &&
  delivery_config_version === feed.version &&
  report_definition_id === feed.definition.id &&
  Date.parse(of.start) === Date.parse(period.start) &&
  Date.parse(of.end) === Date.parse(period.end);

/** The statement that no other one has taken the place of. */
export function currentOf(all: readonly RecordedStatement[]): RecordedStatement | undefined {
  const replaced = new Set(all.map(({ statement }) => statement.supersedes_reporting_status_id));
  return all.find(({ statement }) => !replaced.has(statement.reporting_status_id));
}

export const shownStatement = ({ statement, recordedAt }: RecordedStatement): JsonObject => ({
  ...statement,
  recorded_at: recordedAt,
});
