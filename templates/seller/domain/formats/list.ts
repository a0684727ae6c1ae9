import type { JsonObject } from "adbind/contract";
import type { Call, Request } from "../../handler.js";
import { page } from "../../page.js";
import { type Format, formats, shownFormat } from "./formats.js";

type Wanted = Request<"list_creative_formats">;

/** `list_creative_formats`: what fits all filters given. */
export function listFormats(call: Call, request: Wanted): JsonObject {
  const fitting = formats(call).filter((one) => fits(call, one, request));
  const { items, pagination } = page(fitting, request.pagination, ({ id }) => id);
  return { formats: items.map((one) => shownFormat(call, one)), pagination };
}

function fits(call: Call, one: Format, request: Wanted): boolean {
  const { format_ids, asset_types, name_search } = request;
  const assets = (one.assets ?? []).map(({ asset_type }) => asset_type);
  return (
    (format_ids === undefined ||
      format_ids.some(({ agent_url, id }) => id === one.id && agent_url === call.agentUrl)) &&
    (asset_types === undefined || asset_types.some((type) => assets.includes(type))) &&
    (name_search === undefined || one.name.toLowerCase().includes(String(name_search).toLowerCase())) &&
    inside(one, request)
  );
}

/** A format without dimensions is outside any bound. */
function inside(one: Format, { max_width, max_height, min_width, min_height }: Wanted): boolean {
  if ([max_width, max_height, min_width, min_height].every((bound) => bound === undefined)) return true;
  return (one.renders ?? []).some(
    ({ dimensions }) =>
      dimensions !== undefined &&
      dimensions.width <= Number(max_width ?? Number.POSITIVE_INFINITY) &&
      dimensions.height <= Number(max_height ?? Number.POSITIVE_INFINITY) &&
      dimensions.width >= Number(min_width ?? 0) &&
      dimensions.height >= Number(min_height ?? 0),
  );
}
