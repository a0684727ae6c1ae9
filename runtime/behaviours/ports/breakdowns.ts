/** What a package delivered by place, device, creative and the like. */
import type { JsonObject } from "../../contract/index.js";

/** What is asked of one breakdown. */
export interface BreakdownQuery {
  /** As `reporting_dimensions` names it: `geo`, `device_type`, `creative`. */
  readonly dimension: string;
  /** What the buyer says of it beside: `geo_level`, `system`, `age_ranges`. The library sorts rows and parts them into pages itself. */
  readonly asked: JsonObject;
}

/** The rows of one package. */
export interface BreakdownRows {
  /** As the release has them in `by_DIMENSION`: what each is of, and its metrics. */
  readonly rows: readonly JsonObject[];
  /** There are more than these. */
  readonly truncated?: boolean;
  /** Some are left out, since they would tell too much of too few people. */
  readonly suppressed?: boolean;
}

/** By package id; of a package that is not in it nothing is known. */
export type Breakdown = Readonly<Record<string, BreakdownRows>>;
