/** What delivery reports are made of. */
import type { JsonObject, MaybePromise } from "../contract/index.js";

/** docs/protocol/webhooks.md#delivery-reports; the rest passes through. */
export interface ReportData {
  readonly currency: string;
  readonly media_buy_deliveries: readonly JsonObject[];
  readonly [extra: string]: unknown;
}

/** A report of a period that was told before. */
export interface CorrectedReport extends ReportData {
  /** Unix milliseconds. */
  readonly period: { readonly start: number; readonly end: number };
  /** Why: what was counted has changed, which is the default, or its window has. */
  readonly notificationType?: "adjusted" | "window_update";
}

/** What a delivery report is to be about. */
export interface ReportRequest {
  readonly mediaBuyId: string;
  readonly principal: string;
  readonly notificationType: "scheduled" | "final";
  /** Version of the release that the report is told in: that of who registered for it. */
  readonly release: string;
  /** What was delivered in it is reported, and nothing of what was reported before. Unix milliseconds. */
  readonly period: { readonly start: number; readonly end: number };
  /** Whose hours, days or months the period is made of. */
  readonly timezone: string;
  readonly requestedMetrics: readonly string[] | undefined;
}

/** Answers a report, or that its data is not there yet: then a `delayed` one is sent with what is known. */
export type ReportSource = (
  request: ReportRequest,
) => MaybePromise<ReportData | { readonly delayed: true; readonly currency: string; readonly expectedAt?: string }>;
