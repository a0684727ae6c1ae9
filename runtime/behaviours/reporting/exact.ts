/** The rows of one report, page by page: together they are what its digest is over. */
import type { JsonObject } from "../../contract/index.js";
import type { AccountRef } from "../accounts/accounts.js";
import type { BehaviourCall } from "../frame/call.js";
import { listPage, type PageWanted } from "../frame/page.js";
import { findRevision } from "./ledger.js";
import { shownRevision } from "./shown.js";
import { callersLedger, noSuchReport } from "./status.js";

export interface ExactRead {
  readonly account: AccountRef;
  readonly reporting_revision_id: string;
  readonly pagination?: PageWanted;
}

/** @throws ToolError NOT_FOUND */
export async function exactReport(call: BehaviourCall, wanted: ExactRead): Promise<JsonObject> {
  const ledger = await callersLedger(call, wanted.account);
  const found = await findRevision(call, ledger, wanted.reporting_revision_id);
  if (found === undefined) throw noSuchReport();
  const numbered = found.rows.map((row, index) => ({ row, id: String(index) }));
  const { items, pagination } = listPage(numbered, wanted.pagination, ({ id }) => id);
  return {
    reporting_period: found.period,
    media_buy_deliveries: [],
    reporting_revision: shownRevision(ledger, found),
    reporting_revision_binding: {
      reporting_revision_id: found.id,
      row_count: found.rows.length,
      control_totals: found.totals,
      content_sha256: found.digest,
    },
    reporting_rows: items.map(({ row }) => row),
    pagination,
  };
}
