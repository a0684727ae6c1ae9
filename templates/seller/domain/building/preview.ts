import type { JsonObject } from "adbind/contract";
import { ToolError } from "adbind/seller";
import type { Call, Request } from "../../handler.js";
import { type AccountRef, ownerOfRef } from "../accounts/accounts.js";
import { host } from "./hosted.js";
import { knownFormat, type Manifest, missing, sizeOf } from "./manifest.js";
import { type CatalogItems, renderPage } from "./render.js";
import { tag } from "./tags.js";

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
  readonly catalog?: CatalogItems | undefined;
  /** Where the manifest stands in the request. */
  readonly field: string;
}

export const previewsExpire = (call: Call): string =>
  new Date(call.now.getTime() + PREVIEW_HOURS * 3_600_000).toISOString();

/**
 * One preview per input.
 * @throws ToolError REFERENCE_NOT_FOUND for an unknown format, CREATIVE_REJECTED where an asset is missing
 */
export function previewsOf(call: Call, manifest: Manifest, options: PreviewOptions): JsonObject[] {
  const of = knownFormat(call, manifest.format_id, `${options.field}.format_id`);
  const [lacking] = missing(of, manifest);
  if (lacking !== undefined) {
    throw new ToolError("CREATIVE_REJECTED", `the format ${of.id} needs the asset ${lacking}`, {
      field: `${options.field}.assets.${lacking}`,
    });
  }
  const { width, height } = sizeOf(of);
  const inputs = options.inputs ?? [{ name: "Default" }];
  return inputs.map((input) => {
    const { macros = {} } = input;
    const html = renderPage(manifest, {
      size: { width, height },
      macros,
      ...(options.catalog !== undefined && { catalog: options.catalog }),
    });
    return {
      preview_id: call.id("prv"),
      input: { ...input, macros },
      renders: [renderOf(call, html, { width, height }, options.output)],
    };
  });
}

function renderOf(
  call: Call,
  html: string,
  dimensions: JsonObject,
  output: PreviewOptions["output"] = "url",
): JsonObject {
  const { id, url } = host(call, { type: "text/html; charset=utf-8", content: html, expires: previewsExpire(call) });
  return {
    render_id: id,
    role: "primary",
    dimensions,
    output_format: output,
    ...(output === "html" ? { preview_html: html } : { preview_url: url }),
    embedding: { recommended_sandbox: "allow-popups", supports_fullscreen: false },
  };
}

type Preview = Request<"preview_creative">;
type Item = NonNullable<Preview["requests"]>[number];

const optionsOf = (request: Preview | Item, output: PreviewOptions["output"], field: string): PreviewOptions => ({
  output: request.output_format ?? output,
  inputs: request.inputs as readonly PreviewInput[] | undefined,
  field,
});

function batch(call: Call, request: Preview): JsonObject {
  const results = (request.requests ?? []).map((item, index) => {
    const manifest = item.creative_manifest as unknown as Manifest & { creative_id?: string };
    const named = { creative_id: manifest.creative_id ?? `requests[${index}]` };
    try {
      const options = optionsOf(item, request.output_format, `requests[${index}].creative_manifest`);
      const response = { previews: previewsOf(call, manifest, options), expires_at: previewsExpire(call) };
      return { ...named, success: true, response };
    } catch (error) {
      if (!(error instanceof ToolError)) throw error;
      return { ...named, success: false, errors: [error.fault] };
    }
  });
  return { response_type: "batch", results };
}

/** What was served under a tag, drawn again. */
function variant(call: Call, request: Preview): JsonObject {
  const id = request.variant_id ?? "";
  const served = tag(call, ownerOfRef(call, (request as { account?: AccountRef }).account), id);
  if (served === undefined)
    throw new ToolError("REFERENCE_NOT_FOUND", "there is no such variant", { field: "variant_id" });
  const { manifest, creative_id } = served;
  const html = renderPage(manifest, { size: sizeOf(knownFormat(call, manifest.format_id, "variant_id")) });
  const render = renderOf(
    call,
    html,
    sizeOf(knownFormat(call, manifest.format_id, "variant_id")) as never,
    request.output_format,
  );
  return {
    response_type: "variant",
    variant_id: id,
    creative_id,
    manifest,
    previews: [{ preview_id: call.id("prv"), renders: [render] }],
    expires_at: previewsExpire(call),
  };
}

/** `preview_creative`: pages that show what a creative will look like. */
export function previewCreative(call: Call, request: Preview): JsonObject {
  switch (request.request_type) {
    case "batch":
      return batch(call, request);
    case "variant":
      return variant(call, request);
    case "single": {
      const manifest = request.creative_manifest as unknown as Manifest;
      const chosen = request.format_id === undefined ? manifest : { ...manifest, format_id: request.format_id };
      const previews = previewsOf(call, chosen, optionsOf(request, undefined, "creative_manifest"));
      return { response_type: "single", previews, expires_at: previewsExpire(call) };
    }
  }
}
