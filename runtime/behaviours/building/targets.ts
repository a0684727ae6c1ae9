/** What is asked to be made, and in which formats. */
import { ToolError } from "../../seller/tool-error.js";
import type { AccountRef } from "../accounts/accounts.js";
import type { BehaviourCall } from "../frame/call.js";
import { unsupported } from "../frame/invalid.js";
import type { CreativeFormat } from "../ports/creatives.js";
import { type CreativeManifest, knownFormat } from "../previews/manifest.js";
import type { PreviewInput } from "../previews/preview.js";
import { capabilityIn, isBuilt } from "./capability.js";

/** A request to make a creative. */
export interface Build {
  readonly account?: AccountRef;
  readonly brand?: { readonly domain?: string };
  readonly message?: string;
  readonly creative_manifest?: CreativeManifest;
  readonly creative_id?: string;
  readonly media_buy_id?: string;
  readonly package_id?: string;
  readonly target_format_id?: { readonly id: string };
  readonly target_format_ids?: readonly { readonly id: string }[];
  /** As \`creative.supported_formats\` of the capabilities names them. */
  readonly target_capability_id?: string;
  readonly target_capability_ids?: readonly string[];
  readonly item_limit?: number;
  readonly quality?: "draft" | "production";
  readonly macro_values?: Readonly<Record<string, string>>;
  readonly include_preview?: boolean;
  readonly preview_output_format?: "url" | "html";
  readonly preview_inputs?: readonly PreviewInput[];
  /** Who makes it, and how its knobs are put. */
  readonly transformer_id?: string;
  readonly config?: Readonly<Record<string, unknown>>;
  /** What was made before, and is to be made better. */
  readonly refine_from_build_variant_id?: string;
  readonly max_variants?: number;
  readonly max_creatives?: number;
  readonly signal_conditions?: readonly object[];
  readonly variant_axis?: {
    readonly dimension: string;
    readonly field?: string;
    readonly values?: readonly unknown[];
  };
  readonly keep_mode?: string;
  readonly mode?: "execute" | "estimate";
  /** In the currency of the transformer's price. */
  readonly max_spend?: { readonly amount: number; readonly currency: string };
  /** The word of the account's governance agent on what it costs. */
  readonly governance_context?: string;
}

/** How long what was made for iteration is kept, and what was made to run. */
const KEPT_DAYS = { draft: 1, production: 90 };
const DAY = 86_400_000;

export const expiry = (call: BehaviourCall, { quality }: Build): string =>
  new Date(call.now.getTime() + KEPT_DAYS[quality ?? "production"] * DAY).toISOString();

/** Where in a request the target of that place is named. */
export function targetField(request: Build, at: number): string {
  if (request.target_format_ids !== undefined) return `target_format_ids[${at}]`;
  if (request.target_capability_ids !== undefined) return `target_capability_ids[${at}]`;
  return request.target_capability_id === undefined ? "target_format_id" : "target_capability_id";
}

/** What was refused of one of several targets, with the place of that one where the refusal names none. */
export function refusedAt(request: Build, at: number, error: unknown): unknown {
  const several = request.target_format_ids ?? request.target_capability_ids;
  if (several === undefined || !(error instanceof ToolError) || error.error.field !== undefined) return error;
  return new ToolError(error.code, error.message, { ...error.error, field: targetField(request, at) });
}

/** Formats asked for; where none is, that of what is given. */
export async function targetsOf(
  call: BehaviourCall,
  request: Build,
  given: { readonly id: string } | undefined,
): Promise<CreativeFormat[]> {
  const { target_format_id: one, target_format_ids: many } = request;
  // Who names several means several, whatever else a client has filled in.
  if (many !== undefined) return Promise.all(many.map((id, index) => buildable(call, id, targetField(request, index))));
  const { target_capability_id: capability, target_capability_ids: capabilities } = request;
  if (capability !== undefined || capabilities !== undefined) {
    const ids = capabilities ?? [capability!];
    return Promise.all(ids.map((id, index) => buildable(call, { id }, targetField(request, index))));
  }
  const wanted = one ?? given;
  if (wanted === undefined) {
    throw new ToolError("INVALID_REQUEST", "say what to build: target_format_id or target_format_ids", {
      field: "target_format_id",
    });
  }
  return [await buildable(call, wanted, "target_format_id")];
}

/** A format that manifests are made of here. @throws ToolError */
async function buildable(call: BehaviourCall, { id }: { readonly id: string }, field: string): Promise<CreativeFormat> {
  const found = await knownFormat(call, { id: capabilityIn(call.shapes, id) ?? id }, field);
  if (isBuilt(found)) return found;
  throw new ToolError(unsupported(call), "creatives of this format are not built here", { field });
}
