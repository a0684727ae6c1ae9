/** What sellers say was delivered: each statement once, in their order, and as it was digested. */
import { createHash } from "node:crypto";
import canonicalize from "canonicalize";
import type { JsonObject } from "../../contract/index.js";
import { ToolError } from "../../seller/tool-error.js";
import type { DeliveryMetrics } from "./drift.js";
import { type CheckEntry, type Entry, isCheck } from "./ledger.js";

const conflict = (message: string): ToolError =>
  new ToolError("CONFLICT", message, { field: "delivery_metrics.statement_id", recovery: "correctable" });

const statementsOf = (all: readonly Entry[], context: string): JsonObject[] =>
  all
    .filter(isCheck)
    .filter(({ governance_context }) => governance_context === context)
    .flatMap(({ statement }) => (statement === undefined ? [] : [statement]));

/**
 * The statement of a delivery report, to be kept; undefined where the report is none.
 * @throws ToolError VALIDATION_ERROR for a digest that is not the statement's; CONFLICT for an id or a place that another has
 */
export function statementIn(
  all: readonly Entry[],
  context: string,
  { metrics, reference }: { readonly metrics: DeliveryMetrics; readonly reference: string | undefined },
): JsonObject | undefined {
  const { statement_digest: digest, ...said } = metrics;
  const { statement_id: id, sequence } = said;
  if (id === undefined || digest === undefined || sequence === undefined || reference === undefined) return undefined;
  const text = canonicalize({ seller_reference: reference, delivery_metrics: said }) ?? "";
  if (digest !== `sha256:${createHash("sha256").update(text).digest("hex")}`)
    throw new ToolError("VALIDATION_ERROR", "the digest is not that of seller_reference and delivery_metrics", {
      field: "delivery_metrics.statement_digest",
    });
  const before = statementsOf(all, context);
  const same = before.find((one) => one.statement_id === id);
  if (same !== undefined && same.statement_digest !== digest) throw conflict("another statement has this id");
  if (same === undefined && before.some((one) => Number(one.sequence) >= sequence))
    throw conflict(`a later statement is known: sequence must be above ${before.at(-1)?.sequence}`);
  return {
    statement_id: id,
    statement_digest: digest,
    sequence,
    issued_at: said.issued_at,
    seller_reference: reference,
    reporting_period: said.reporting_period,
    cumulative_spend: said.cumulative_spend,
    currency: said.currency,
    canonical_payload: { seller_reference: reference, delivery_metrics: metrics },
  };
}

/** What a buyer has seen of a delivery. */
export interface Observation {
  readonly source: "seller_statement_copy" | "buyer_measurement";
  readonly seller_statement_id?: string;
  readonly seller_statement_digest?: string;
  readonly reporting_period: { readonly start: string; readonly end: string };
  readonly cumulative_spend: number;
  readonly currency: string;
  readonly period_closed?: boolean;
}

/** Compares it with what the seller said in the check that it names. */
export function reconciled(seen: Observation, { statement }: Partial<CheckEntry>): string {
  if (statement === undefined) return "unmatched";
  const money = seen.cumulative_spend === statement.cumulative_spend && seen.currency === statement.currency;
  if (seen.source === "buyer_measurement") return money ? "consistent" : "measurement_variance";
  const copied =
    seen.seller_statement_id === statement.statement_id && seen.seller_statement_digest === statement.statement_digest;
  return copied && money ? "consistent" : "disputed";
}
