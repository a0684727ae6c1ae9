import type { ToolBehaviour } from "../frame/behaviour.js";
import type { BehaviourCall } from "../frame/call.js";
import { listPage, type PageWanted } from "../frame/page.js";
import type { CreativeFormat, FormatId } from "../ports/creatives.js";
import { formatId, formatsOf, sameFormat, shownFormat } from "./formats.js";

interface Wanted {
  readonly format_ids?: readonly FormatId[];
  readonly asset_types?: readonly string[];
  readonly name_search?: string;
  readonly max_width?: number;
  readonly max_height?: number;
  readonly min_width?: number;
  readonly min_height?: number;
  readonly pagination?: PageWanted;
}

/** `list_creative_formats`: what fits all filters given. */
export const listFormats: ToolBehaviour = async (request: Wanted, call) => {
  const fitting = [...(await formatsOf(call)).values()].filter((one) => fits(call, one, request));
  const { items, pagination } = listPage(fitting, request.pagination, ({ id }) => id);
  // How many there are is no use: what a test has put there stands beside what is sold.
  const { total_count: _, ...cursor } = pagination;
  return call.answer({ formats: items.map((one) => shownFormat(call, one)), pagination: cursor });
};

function fits(call: BehaviourCall, one: CreativeFormat, request: Wanted): boolean {
  const { format_ids, asset_types, name_search } = request;
  const assets = (one.assets ?? []).map(({ asset_type }) => asset_type);
  return (
    (format_ids === undefined || format_ids.some((wanted) => sameFormat(wanted, formatId(call, one)))) &&
    (asset_types === undefined || asset_types.some((type) => assets.includes(type))) &&
    (name_search === undefined || one.name.toLowerCase().includes(name_search.toLowerCase())) &&
    inside(one, request)
  );
}

/** A format without dimensions is outside any bound. */
function inside(one: CreativeFormat, { max_width, max_height, min_width, min_height }: Wanted): boolean {
  if ([max_width, max_height, min_width, min_height].every((bound) => bound === undefined)) return true;
  return (one.renders ?? []).some(
    ({ dimensions }) =>
      dimensions !== undefined &&
      dimensions.width <= (max_width ?? Number.POSITIVE_INFINITY) &&
      dimensions.height <= (max_height ?? Number.POSITIVE_INFINITY) &&
      dimensions.width >= (min_width ?? 0) &&
      dimensions.height >= (min_height ?? 0),
  );
}
