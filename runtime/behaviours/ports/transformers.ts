/** Transformers: what makes creatives here, account by account, with knobs that buyers turn, and at which price. */
import type { JsonObject } from "../../contract/index.js";
import type { CreativeFormat } from "./creatives.js";
import type { CallsUpstream } from "./upstream.js";

/** A value that a knob can be put to. */
export interface TransformerOption {
  readonly value: string | number | boolean;
  readonly label?: string;
  /** For people, and for briefs: `{ language: "es-ES", gender: "female" }`. */
  readonly metadata?: JsonObject;
}

/** One knob. */
export type TransformerParam = {
  /** Its name in `config`. */
  readonly field: string;
  readonly description?: string;
  readonly required?: true;
  /** What it is at where the buyer does not say. */
  readonly default?: string | number | boolean;
} & (
  | { readonly value_source: "inline"; readonly type: ParamType; readonly allowed_values: readonly unknown[] }
  | {
      readonly value_source: "range";
      readonly type: "number" | "integer";
      readonly minimum: number;
      readonly maximum: number;
    }
  /** The port's `options` has its values, which differ from account to account. */
  | { readonly value_source: "enumerable"; readonly type: ParamType }
  /** Most characters of a text. */
  | { readonly value_source: "free_text"; readonly type: "string"; readonly max_length?: number }
);

type ParamType = "string" | "number" | "integer" | "boolean";

/** A price for each creative that is made. */
export interface TransformerPrice {
  readonly pricing_option_id: string;
  /** What is counted: `render`, `image`. */
  readonly unit: string;
  /** Major units of the currency. */
  readonly unit_price: number;
  /** ISO 4217. */
  readonly currency: string;
}

/** Something that turns a creative into others. */
export interface Transformer {
  readonly transformer_id: string;
  readonly name: string;
  readonly description?: string;
  readonly metadata?: JsonObject;
  /** Formats it takes, by the seller's ids; from words alone where left out. */
  readonly inputs?: readonly string[];
  /** Formats it makes, by the seller's ids. */
  readonly outputs: readonly [string, ...string[]];
  readonly params: readonly TransformerParam[];
  /** Free where left out. */
  readonly price?: TransformerPrice;
}

/** A creative that is to be made. */
export interface RenderJob {
  /** The caller. */
  readonly principal: string;
  /** The account that pays; undefined where the request names none. */
  readonly accountId: string | undefined;
  readonly transformer: Transformer;
  readonly format: CreativeFormat;
  /** Every knob, as the buyer has put it or at its default. */
  readonly config: Readonly<Record<string, unknown>>;
  /** What is asked for, in words. */
  readonly message: string;
  /** Assets to start from, by name. */
  readonly assets: Readonly<Record<string, JsonObject>>;
  /** What it is to differ in from others of the same request: `{ dimension: "theme", value: "winter" }`. */
  readonly variant?: { readonly dimension: string; readonly value?: unknown; readonly index: number };
  /** What is refined, and what had been asked for then. */
  readonly before?: { readonly message: string; readonly config: Readonly<Record<string, unknown>> };
  readonly quality: "draft" | "production";
}

/** What was made: files that the seller serves, or assets that are served elsewhere. */
export interface RenderedCreative {
  /** Assets by name, as the wire has them. */
  readonly assets?: Readonly<Record<string, JsonObject>>;
  /** Files by the name of their asset; their addresses are put in. */
  readonly files?: Readonly<
    Record<
      string,
      { readonly type: "audio/wav" | "image/svg+xml"; readonly body: Uint8Array; readonly asset: JsonObject }
    >
  >;
  /** How good it is, of several of one request: the best is recommended. */
  readonly score?: number;
}

/** Turns creatives into others. Yours to answer. */
export interface TransformersPort extends CallsUpstream {
  /** Those of an account, in the order in which they are shown where nobody says what he wants. */
  transformers(who: {
    readonly principal: string;
    readonly accountId: string | undefined;
  }): Promise<readonly Transformer[]>;
  /** Formats that are made and that nothing else makes. */
  formats(): Promise<readonly CreativeFormat[]>;
  /** What a knob of an account can be put to. */
  options(
    of: { readonly transformer: Transformer; readonly field: string },
    who: { readonly principal: string; readonly accountId: string | undefined },
  ): Promise<readonly TransformerOption[]>;
  /** Makes one creative: at least once under the same key, and paid once. */
  render(job: RenderJob, call: { readonly idempotencyKey: string }): Promise<RenderedCreative>;
}
