/** Filters that ask which formats a product takes. */
import { formatId, formatsNamed, sameFormat } from "../formats/formats.js";
import { canonicalKind, type DeclaredOption, isOption, type OptionRef } from "../formats/options.js";
import type { BehaviourCall } from "../frame/call.js";
import { itemsIn } from "../frame/items-in.js";
import type { Product } from "../ports/catalogue.js";
import type { FormatId } from "../ports/creatives.js";
import { STANDARD_AGENT } from "../ports/example-formats.js";

export interface FormatFilters {
  readonly format_ids?: readonly FormatId[];
  readonly format_kinds?: readonly string[];
  readonly format_option_refs?: readonly OptionRef[];
  readonly standard_formats_only?: boolean;
}

/** What a product takes, in all the ways that it says so. */
interface Taken {
  readonly names: readonly FormatId[];
  readonly kinds: readonly unknown[];
  readonly options: readonly OptionRef[];
}

async function takenBy(call: BehaviourCall, { formats, more = {} }: Product): Promise<Taken> {
  const declared = itemsIn<DeclaredOption>(more.format_options);
  const own = await formatsNamed(call, formats);
  return {
    names: [
      ...own.map((one) => formatId(call, one)),
      ...itemsIn<FormatId>(more.format_ids),
      ...declared.flatMap(({ v1_format_ref: refs }) => itemsIn<FormatId>(refs)),
    ],
    kinds: [...own.map(canonicalKind), ...declared.map(({ format_kind }) => format_kind)],
    options: [...formats.map((format_option_id) => ({ format_option_id })), ...declared],
  };
}

const isStandard = (one: FormatId): boolean => sameFormat(one, { agent_url: STANDARD_AGENT, id: one.id });

function meets({ names, kinds, options }: Taken, filters: FormatFilters): boolean {
  const { format_ids: ids, format_kinds: wanted, format_option_refs: refs, standard_formats_only: standard } = filters;
  return (
    (ids?.some((id) => names.some((one) => sameFormat(one, id))) ?? true) &&
    (wanted?.some((kind) => kinds.includes(kind)) ?? true) &&
    (refs?.some((ref) => options.some((one) => isOption(one, ref))) ?? true) &&
    (standard !== true || names.length === 0 || names.some(isStandard))
  );
}

/** What decides whether products take a format that is asked for. */
export async function formatFilter(
  call: BehaviourCall,
  filters: FormatFilters,
  all: readonly Product[],
): Promise<(one: Product) => boolean> {
  const { format_ids: ids, format_kinds: kinds, format_option_refs: refs, standard_formats_only: standard } = filters;
  if ([ids, kinds, refs].every((one) => one === undefined) && standard !== true) return () => true;
  const left = new Set<Product>();
  for (const one of all) if (meets(await takenBy(call, one), filters)) left.add(one);
  return (one) => left.has(one);
}
