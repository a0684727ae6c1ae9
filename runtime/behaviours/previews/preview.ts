import type { JsonObject } from "../../contract/index.js";
import { ToolError } from "../../seller/tool-error.js";
import { type AccountRef, ownerOfRef, resolveAccount } from "../accounts/accounts.js";
import type { ToolBehaviour } from "../frame/behaviour.js";
import type { BehaviourCall } from "../frame/call.js";
import { lineErrors } from "../frame/line-error.js";
import { creativeFor, findCreative } from "../library/creatives.js";
import type { CreativeFormat, Dimensions } from "../ports/creatives.js";
import { formatFromId } from "../ports/example-formats.js";
import { catalogIn } from "./catalogs.js";
import { host } from "./hosted.js";
import { type CreativeManifest, firstAssets, knownFormat, missingAssets, sizeOf } from "./manifest.js";
import { type CatalogItems, renderPage } from "./render.js";
import { findTag } from "./tags.js";

/** How long a preview is served. */
const PREVIEW_HOURS = 24;

/** Values a preview is made with. */
export interface PreviewInput {
  readonly name: string;
  readonly macros?: { readonly [name: string]: string };
  readonly context_description?: string;
}

export interface PreviewOptions {
  readonly output?: "url" | "html" | undefined;
  readonly inputs?: readonly PreviewInput[] | undefined;
  /** What it is filled from; without one, from the catalogue that the manifest names. */
  readonly catalog?: CatalogItems | undefined;
  /** Items of a catalogue that are drawn, at most. */
  readonly itemLimit?: number | undefined;
  /** Where the manifest stands in the request. */
  readonly field: string;
}

/** Another agent's format is drawn by what its name says: only that agent can judge what is in it. */
async function previewedFormat(
  call: BehaviourCall,
  { format_id, format_kind }: CreativeManifest,
  field: string,
): Promise<CreativeFormat> {
  if (format_id === undefined) return { ...formatFromId(format_kind ?? "creative"), assets: [] };
  if (format_id.agent_url === call.agentUrl) return knownFormat(call, format_id, field);
  return knownFormat(call, format_id, field).catch(() => ({ ...formatFromId(format_id.id), assets: [] }));
}

export const previewsExpire = (call: BehaviourCall): string =>
  new Date(call.now.getTime() + PREVIEW_HOURS * 3_600_000).toISOString();

/**
 * One preview per input.
 * @throws ToolError REFERENCE_NOT_FOUND for an unknown format, CREATIVE_REJECTED where an asset is missing
 */
export async function previewsOf(
  call: BehaviourCall,
  manifest: CreativeManifest,
  options: PreviewOptions,
): Promise<JsonObject[]> {
  const of = await previewedFormat(call, manifest, `${options.field}.format_id`);
  const [lacking] = missingAssets(of, manifest);
  if (lacking !== undefined) {
    throw new ToolError("CREATIVE_REJECTED", `the format ${of.id} needs the asset ${lacking}`, {
      field: `${options.field}.assets.${lacking}`,
    });
  }
  const { width, height } = sizeOf(of);
  const inputs = options.inputs ?? [{ name: "Default" }];
  const catalog = options.catalog ?? (await catalogIn(call, manifest, options.itemLimit));
  return inputs.map((input) => {
    const { macros = {} } = input;
    const html = renderPage(manifest, {
      size: { width, height },
      macros,
      ...(catalog !== undefined && { catalog }),
    });
    return {
      preview_id: call.id("prv"),
      input: { ...input, macros },
      renders: [renderOf(call, html, { width, height }, options.output)],
    };
  });
}

/** What a frame may do: what the release says, where it says one thing. */
function sandboxOf({ shapes }: BehaviourCall): unknown {
  const path = ["previews", "*", "renders", "*", "embedding", "recommended_sandbox"];
  return shapes.answer("preview_creative").values(...path)?.[0] ?? "allow-popups";
}

function renderOf(
  call: BehaviourCall,
  html: string,
  { width, height }: Dimensions,
  output: PreviewOptions["output"] = "url",
): JsonObject {
  const { id, url } = host(call, { type: "text/html; charset=utf-8", content: html, expires: previewsExpire(call) });
  return {
    render_id: id,
    role: "primary",
    dimensions: { width, height },
    output_format: output,
    ...(output === "html" ? { preview_html: html } : { preview_url: url }),
    embedding: { recommended_sandbox: sandboxOf(call), supports_fullscreen: false },
  };
}

/** Who draws a creative, where it is not the one that its own format names. */
interface Route {
  readonly format_id?: CreativeManifest["format_id"];
  /** As `creative.supported_formats` of the capabilities names it. */
  readonly target_capability_id?: string;
}

interface Item extends Route {
  readonly creative_manifest?: CreativeManifest & { readonly creative_id?: string };
  /** A creative of the library; beside a manifest it says no more than what that is of. */
  readonly creative_id?: string;
  readonly output_format?: "url" | "html";
  readonly inputs?: readonly PreviewInput[];
  readonly item_limit?: number;
  readonly quality?: string;
}

interface Preview extends Item {
  readonly request_type?: "single" | "batch" | "variant";
  readonly account?: AccountRef;
  readonly requests?: readonly Item[];
  readonly variant_id?: string;
}

/**
 * What is drawn: the manifest that is given, or that of a creative of the library.
 * @throws ToolError INVALID_REQUEST where neither is, CREATIVE_NOT_FOUND for a creative that the account has not
 */
async function manifestOf(call: BehaviourCall, item: Item, account: AccountRef | undefined): Promise<CreativeManifest> {
  const { creative_manifest: given, creative_id: id } = item;
  if (given !== undefined) return given;
  if (id === undefined)
    throw new ToolError("INVALID_REQUEST", "give a creative's manifest, or the id of a creative of the library", {
      field: "creative_manifest",
    });
  const own = account === undefined ? undefined : (await resolveAccount(call, account)).account_id;
  const found = await (own === undefined ? findCreative(call, id) : creativeFor(call, id, own));
  if (found === undefined)
    throw new ToolError(
      call.shapes.knowsError("CREATIVE_NOT_FOUND") ? "CREATIVE_NOT_FOUND" : "REFERENCE_NOT_FOUND",
      "there is no such creative in the library",
      { field: "creative_id" },
    );
  const format = found.format_id === undefined ? found.more : { format_id: found.format_id };
  return { ...format, assets: firstAssets(found.assets) };
}

const isRoute = ({ format_id, target_capability_id }: Route): boolean =>
  format_id !== undefined || target_capability_id !== undefined;

/** The manifest, as who is to draw it takes it. */
function routed(call: BehaviourCall, manifest: CreativeManifest, route: Route): CreativeManifest {
  const { format_id, target_capability_id: capability } = route;
  const named = capability === undefined ? format_id : { agent_url: call.agentUrl, id: capability };
  return named === undefined ? manifest : { ...manifest, format_id: named };
}

const optionsOf = (request: Item, output: PreviewOptions["output"], field: string): PreviewOptions => ({
  output: request.output_format ?? output,
  inputs: request.inputs,
  itemLimit: request.item_limit,
  field,
});

/** One quality is rendered, which is good for either use. */
const QUALITY = "production";

async function batch(call: BehaviourCall, request: Preview): Promise<JsonObject> {
  const results: JsonObject[] = [];
  for (const [index, item] of (request.requests ?? []).entries()) {
    const at = `requests[${index}]`;
    const named = { creative_id: item.creative_id ?? item.creative_manifest?.creative_id ?? at };
    try {
      const manifest = await manifestOf(call, item, request.account);
      const options = optionsOf(item, request.output_format, "creative_manifest");
      const previews = await previewsOf(call, routed(call, manifest, isRoute(item) ? item : request), options);
      const quality_used = item.quality ?? request.quality ?? QUALITY;
      results.push({
        ...named,
        success: true,
        quality_used,
        response: { previews, expires_at: previewsExpire(call) },
      });
    } catch (error) {
      if (!(error instanceof ToolError)) throw error;
      results.push({ ...named, success: false, errors: lineErrors(call, error, at) });
    }
  }
  return { response_type: "batch", results };
}

/** What was served under a tag, drawn again. */
async function variant(call: BehaviourCall, request: Preview): Promise<JsonObject> {
  const id = request.variant_id ?? "";
  const served = await findTag(call, await ownerOfRef(call, request.account), id);
  if (served === undefined)
    throw new ToolError("REFERENCE_NOT_FOUND", "there is no such variant", { field: "variant_id" });
  const { manifest, creative_id } = served;
  const size = sizeOf(await previewedFormat(call, manifest, "variant_id"));
  const render = renderOf(call, renderPage(manifest, { size }), size, request.output_format);
  return {
    response_type: "variant",
    variant_id: id,
    creative_id,
    manifest,
    previews: [{ preview_id: call.id("prv"), renders: [render] }],
    expires_at: previewsExpire(call),
  };
}

async function single(call: BehaviourCall, request: Preview): Promise<JsonObject> {
  const manifest = routed(call, await manifestOf(call, request, request.account), request);
  const previews = await previewsOf(call, manifest, optionsOf(request, undefined, "creative_manifest"));
  const quality_used = request.quality ?? QUALITY;
  return { response_type: "single", previews, quality_used, expires_at: previewsExpire(call) };
}

/** `preview_creative`: pages that show what a creative will look like. */
export const previewCreative: ToolBehaviour = async (request: Preview, call) => {
  const { request_type: type } = request;
  return call.answer(await (type === "batch" ? batch : type === "variant" ? variant : single)(call, request));
};
