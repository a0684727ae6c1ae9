/** `list_transformers`: what makes creatives for an account, which knobs it has, and what it costs. */
import type { JsonObject } from "../../contract/index.js";
import { ToolError } from "../../seller/tool-error.js";
import { type AccountRef, resolveAccount } from "../accounts/accounts.js";
import { formatId, formatsNamed } from "../formats/formats.js";
import { canonicalKind, formatOptions } from "../formats/options.js";
import type { ToolBehaviour } from "../frame/behaviour.js";
import type { BehaviourCall } from "../frame/call.js";
import { listPage, type PageWanted } from "../frame/page.js";
import type { CreativeFormat, FormatId } from "../ports/creatives.js";
import type { Transformer, TransformerOption, TransformerParam, TransformerPrice } from "../ports/transformers.js";
import { capabilityId } from "./capability.js";

/** The area of a seller that has them. */
export const TRANSFORMERS = "transformers";

interface Wanted {
  readonly account?: AccountRef;
  readonly transformer_ids?: readonly string[];
  readonly input_format_ids?: readonly FormatId[];
  readonly output_format_ids?: readonly FormatId[];
  readonly input_format_kinds?: readonly string[];
  readonly output_capability_ids?: readonly string[];
  readonly name_search?: string;
  readonly brief?: string;
  readonly expand_params?: readonly string[];
  readonly expand_pagination?: readonly OptionsPage[];
  readonly include_pricing?: boolean;
  readonly pagination?: PageWanted;
}

interface OptionsPage {
  readonly transformer_id: string;
  readonly field: string;
  readonly options_cursor: string;
}

/** The account that a request names, by its id. */
export const payerOf = async (call: BehaviourCall, ref: AccountRef | undefined): Promise<string | undefined> =>
  ref === undefined ? undefined : (await resolveAccount(call, ref)).account_id;

export const transformersOf = (call: BehaviourCall, accountId: string | undefined): Promise<readonly Transformer[]> =>
  call.once(`transformers ${accountId}`, () =>
    call.ports.transformers.transformers({ principal: call.principal, accountId }),
  );

export const optionsOf = (
  call: BehaviourCall,
  transformer: Transformer,
  field: string,
  accountId: string | undefined,
) =>
  call.once(`options ${transformer.transformer_id} ${field} ${accountId}`, () =>
    call.ports.transformers.options({ transformer, field }, { principal: call.principal, accountId }),
  );

const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]{3,}/gu) ?? [];

/** Those that a brief speaks of, best first; all where it speaks of none. */
function curated<T>(all: readonly T[], brief: string | undefined, textOf: (one: T) => string): readonly T[] {
  if (brief === undefined) return all;
  const wanted = new Set(wordsOf(brief));
  const scored = all.map((one) => ({ one, score: wordsOf(textOf(one)).filter((word) => wanted.has(word)).length }));
  const found = scored.filter(({ score }) => score > 0).sort((a, b) => b.score - a.score);
  return found.length === 0 ? all : found.map(({ one }) => one);
}

const sharesSome = (has: readonly string[], wanted: readonly string[] | undefined): boolean =>
  wanted === undefined || wanted.some((one) => has.includes(one));

/** What of the request a transformer has to meet. */
async function meets(call: BehaviourCall, one: Transformer, wanted: Wanted): Promise<boolean> {
  const { transformer_ids: ids, name_search: name, input_format_kinds: kinds } = wanted;
  const inputs = one.inputs ?? [];
  const of = kinds === undefined ? [] : await formatsNamed(call, inputs);
  const capabilities = one.outputs.map((id) => capabilityId(call.shapes, id));
  return (
    (ids?.includes(one.transformer_id) ?? true) &&
    (name === undefined || one.name.toLowerCase().includes(name.toLowerCase())) &&
    sharesSome(
      inputs,
      wanted.input_format_ids?.map(({ id }) => id),
    ) &&
    sharesSome(
      one.outputs,
      wanted.output_format_ids?.map(({ id }) => id),
    ) &&
    sharesSome(of.map(canonicalKind), kinds) &&
    sharesSome(capabilities, wanted.output_capability_ids)
  );
}

/** Options of a knob on one page. */
const PAGE = { items: 25, most: 25 };

/** A knob as it is listed, with its values where they are asked for. */
async function shownParam(
  call: BehaviourCall,
  { of, param }: { of: Transformer; param: TransformerParam },
  { wanted, accountId }: { wanted: Wanted; accountId: string | undefined },
): Promise<JsonObject> {
  const page = wanted.expand_pagination?.find(
    ({ transformer_id, field }) => transformer_id === of.transformer_id && field === param.field,
  );
  const asked = page !== undefined || (wanted.expand_params?.includes(param.field) ?? false);
  if (param.value_source !== "enumerable" || !asked) return { ...param };
  const all = curated(await optionsOf(call, of, param.field, accountId), wanted.brief, optionText);
  const cursor = page === undefined ? {} : { cursor: page.options_cursor };
  const { items, pagination } = listPage(all, cursor, ({ value }) => JSON.stringify(value), PAGE);
  return { ...param, options: items, ...(pagination.cursor !== undefined && { options_cursor: pagination.cursor }) };
}

const optionText = ({ value, label, metadata }: TransformerOption): string =>
  `${value} ${label ?? ""} ${JSON.stringify(metadata ?? {})}`;

const transformerText = ({ name, description, metadata }: Transformer): string =>
  `${name} ${description ?? ""} ${JSON.stringify(metadata ?? {})}`;

const shownPrice = ({ pricing_option_id, ...price }: TransformerPrice): JsonObject => ({
  pricing_option_id,
  model: "per_unit",
  ...price,
});

/** A format as something is made of it: nothing of where it is sold. */
const accepted = (call: BehaviourCall, formats: readonly CreativeFormat[]): JsonObject[] =>
  formatOptions(call.agentUrl, formats, call.shapes).map(({ v1_format_ref: _, ...format }) => format);

export const listTransformers: ToolBehaviour = async (request: Wanted, call) => {
  const accountId = await payerOf(call, request.account);
  const all = await transformersOf(call, accountId);
  const met = await Promise.all(all.map(async (one) => ((await meets(call, one, request)) ? [one] : [])));
  const unknown = request.expand_pagination?.findIndex(
    ({ transformer_id: id }) => !all.some(({ transformer_id }) => transformer_id === id),
  );
  if (unknown !== undefined && unknown >= 0)
    throw new ToolError("INVALID_REQUEST", "there is no such transformer", {
      field: `expand_pagination[${unknown}].transformer_id`,
    });
  const found = curated(met.flat(), request.brief, transformerText);
  const { items, pagination } = listPage(found, request.pagination, ({ transformer_id }) => transformer_id);
  const shown = async (of: Transformer): Promise<JsonObject> => {
    const { transformer_id, name, description, metadata, inputs, outputs, params, price } = of;
    const [taken, made] = [await formatsNamed(call, inputs ?? []), await formatsNamed(call, outputs)];
    const context = { wanted: request, accountId };
    return {
      ...{ transformer_id, name },
      ...(description !== undefined && { description }),
      ...(metadata !== undefined && { metadata }),
      ...(taken.length > 0 && { input_format_ids: taken.map((one) => formatId(call, one)) }),
      ...(taken.length > 0 && { input_formats: accepted(call, taken) }),
      output_format_ids: made.map((one) => formatId(call, one)),
      output_capability_ids: outputs.map((id) => capabilityId(call.shapes, id)),
      params: await Promise.all(params.map((param) => shownParam(call, { of, param }, context))),
      ...(request.include_pricing === true && price !== undefined && { pricing_options: [shownPrice(price)] }),
    };
  };
  return call.answer({ transformers: await Promise.all(items.map(shown)), pagination });
};
