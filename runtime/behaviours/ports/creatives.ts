/** Creatives: which formats are taken, whether one is good enough, and what it looks like. */
import type { JsonObject, ProtocolError } from "../../contract/index.js";
import type { CallsUpstream } from "./upstream.js";

/** A creative format: whose it is, its id there, and how large or long it is where that format is a template. */
export interface FormatId {
  readonly agent_url: string;
  readonly id: string;
  /** In pixels; with a height. */
  readonly width?: number;
  readonly height?: number;
  readonly duration_ms?: number;
}

/** One asset a format asks for. */
export interface FormatAsset {
  readonly item_type: "individual";
  readonly asset_id: string;
  readonly asset_type: string;
  readonly required: boolean;
  readonly requirements?: JsonObject;
}

/** A size; pixels unless a unit is given. */
export interface Dimensions {
  readonly width: number;
  readonly height: number;
  readonly unit?: string;
}

/** A format that the seller takes. */
export interface CreativeFormat {
  readonly id: string;
  /** Whose it is; the seller's own, under its own address, where left out. */
  readonly agent_url?: string;
  readonly name: string;
  readonly description?: string;
  readonly renders?: readonly { readonly role: string; readonly dimensions?: Dimensions }[];
  readonly assets?: readonly FormatAsset[];
  /**
   * The canonical format it narrows, and how, as the wire has `params`: `title_max_chars`, `cta_values`, `main_image_sizes`.
   * What it is made of decides where this is left out.
   */
  readonly canonical?: { readonly kind: string; readonly params?: JsonObject };
  /** More of the format's own fields, as on the wire. */
  readonly more?: JsonObject;
}

/** One asset of a creative. */
export interface CreativeAsset extends JsonObject {
  readonly asset_type?: string;
}

/** Assets of a creative, by the slots of its format. */
export type CreativeAssets = Readonly<Record<string, CreativeAsset | readonly CreativeAsset[]>>;

/** An agent that verifies creatives. */
export interface VerifyAgent {
  readonly agent_url: string;
  readonly feature_id?: string;
}

/** What a creative says of how it was made. */
export interface Provenance {
  readonly digital_source_type?: string | null;
  readonly human_oversight?: string;
  readonly disclosure?: { readonly required?: boolean };
  readonly embedded_provenance?: readonly { readonly verify_agent?: VerifyAgent }[];
  readonly watermarks?: readonly { readonly verify_agent?: VerifyAgent }[];
}

/** A creative somebody uploads. */
export interface CreativeUpload {
  readonly creative_id: string;
  readonly name: string;
  /** Absent where it names a canonical format. */
  readonly format_id?: FormatId;
  readonly format_kind?: string;
  /** Which of several formats of that kind. */
  readonly format_option_ref?: { readonly format_option_id?: string; readonly publisher_domain?: string };
  readonly assets: CreativeAssets;
  readonly tags?: readonly string[];
  /** How it was made, as its buyer says. */
  readonly provenance?: Provenance;
}

/** What is made of a brief. */
export interface Copy {
  readonly headline: string;
  readonly cta: string;
}

/** Colours of a brand. */
export interface Palette {
  readonly primary: string;
  readonly accent: string;
}

/** What a page or a player loads to show a creative in one place. */
export interface ServedTag {
  readonly tagId: string;
  readonly creativeId: string;
  readonly formatId: string;
  readonly mediaBuyId?: string;
  readonly packageId?: string;
}

/** Formats, and what becomes of creatives that are uploaded. Yours to answer. */
export interface Creatives extends CallsUpstream {
  formats(): Promise<readonly CreativeFormat[]>;
  /**
   * Looks at an upload whose assets are what its format asks for. `pending_review`: a person will; errors: it is refused.
   */
  review?(
    upload: CreativeUpload,
    who: { readonly principal: string },
  ): Promise<"approved" | "pending_review" | readonly ProtocolError[]>;
  /** Tells who serves creatives of a tag that was given out; at least once with the same key. */
  serve?(tag: ServedTag, call: { readonly idempotencyKey: string }): Promise<void>;
  /** Colours to draw in, by the brand's domain. */
  palette?(brandDomain: string): Promise<Palette | undefined>;
  /** Writes copy for a brief; `before` is what an earlier version said. */
  write?(brief: string, before: Partial<Copy>): Promise<Copy>;
}
