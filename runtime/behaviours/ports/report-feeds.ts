/** Reports that come of themselves, period after period: what was promised, and what happened. */
import type { JsonObject } from "../../contract/index.js";

/** Where a text is published, and what it was when it was. */
export interface PublishedText {
  /** https, at a public host. */
  readonly uri: string;
  /** Hex. */
  readonly sha256: string;
}

/** When reports of a feed are due. `slaSeconds`: how long after a period's end. */
export interface FeedSchedule {
  /** An hour, or a day of the calendar. */
  readonly period: "PT1H" | "P1D";
  /** The calendar its days are of; UTC where left out. */
  readonly timezone?: string;
  /** How long after the end of a period its report is there, in seconds. */
  readonly slaSeconds: number;
}

/** One sequence of reports of an account. */
export interface ReportFeed {
  readonly id: string;
  /** Counts up where what is promised changes. */
  readonly version: number;
  readonly purpose: "pacing" | "analytics";
  readonly definition: PublishedText & { readonly id: string };
  /** What a row is: its JSON Schema, and how rows are told apart. */
  readonly profile: PublishedText & {
    readonly id: string;
    readonly version: string;
    readonly grain: string;
    readonly primaryKeys: readonly string[];
  };
  readonly schedule: FeedSchedule;
  /** `official`: what a report says is final. */
  readonly finality: "snapshot" | "official";
  /** Where the first period begins. */
  readonly since: string;
  readonly mediaBuyIds: readonly string[];
  readonly packageIds: readonly string[];
}

/** The time a report covers. */
export interface FeedPeriod {
  /** ISO 8601; the end is not part of it. */
  readonly start: string;
  readonly end: string;
}

/** A sum that a report's rows must come to. */
export interface ControlTotal {
  readonly name: string;
  /** A number, as a text. */
  readonly value: string;
  readonly value_type: "integer" | "decimal";
  readonly unit?: string;
}

/** What happened in a period: rows as the profile's schema has them, in their order. */
export interface FeedReport {
  readonly rows: readonly JsonObject[];
  readonly totals: readonly ControlTotal[];
}

/** Whose report feed it is. */
export interface FeedAccount {
  readonly principal: string;
  readonly accountId: string;
}

/** What a consumer says of one report that it was to get, as the wire has it. */
export interface ConsumerStatement extends JsonObject {
  readonly reporting_status_id: string;
  readonly supersedes_reporting_status_id?: string;
  readonly delivery_config_id: string;
  readonly delivery_config_version: number;
  readonly report_definition_id: string;
  readonly period: FeedPeriod & { readonly source_timezone: string };
  readonly reporting_obligation_id?: string;
  readonly reporting_revision_id?: string;
  /** Hex. */
  readonly observed_revision_content_sha256?: string;
  /** `received`, `obligation_missing`, `revision_missing`, `unreadable`, `content_mismatch`. */
  readonly consumer_status: string;
  readonly status_as_of: string;
  readonly seller_ledger_snapshot_id?: string;
  readonly seller_ledger_as_of?: string;
}
