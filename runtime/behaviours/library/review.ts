/** Whether a creative is what its format asks for. */
import type { ProtocolError } from "../../contract/index.js";
import { isMedia, type Misfit, misfits, narrowedMisfits } from "../formats/fit.js";
import { formatFromId, formatId, formatsOf, sameFormat } from "../formats/formats.js";
import { type DeclaredOption, formatOptions, isOption } from "../formats/options.js";
import type { BehaviourCall } from "../frame/call.js";
import { invalidCode } from "../frame/invalid.js";
import { itemsIn } from "../frame/items-in.js";
import type { CreativeAsset, CreativeUpload, FormatAsset } from "../ports/creatives.js";
import { onOffer, productsOf } from "../products/products.js";
import { listedVerifiers, provenanceProblems, sharedPolicy } from "../provenance/policy.js";
import { refutations } from "../provenance/verified.js";

/** Problems of an upload: of its assets, and of what it says of its making, where no product takes it so. */
export async function uploadProblems(
  call: BehaviourCall,
  upload: CreativeUpload,
  field: string,
): Promise<ProtocolError[]> {
  const own = await formatProblems(call, upload, field);
  const products = await onOffer(call);
  const policy = sharedPolicy(products);
  if (policy === undefined) {
    // A product that demands nothing takes it: what a verifier of another finds is kept, and refuses nothing.
    await refutations(call, listedVerifiers(products, upload), upload, field);
    return own;
  }
  const unsaid = provenanceProblems(call, policy, upload, field);
  const refuted = unsaid.length > 0 ? [] : await refutations(call, policy, upload, field);
  return [...unsaid, ...refuted, ...own];
}

/** None where the format is another agent's, which only that agent can judge. */
export async function formatProblems(
  call: BehaviourCall,
  upload: CreativeUpload,
  field: string,
): Promise<ProtocolError[]> {
  const { format_id, assets } = upload;
  if (format_id === undefined) return canonicalProblems(call, upload, field);
  const known = (await formatsOf(call)).get(format_id.id);
  // Formats move between agents and keep their names: what is narrowed here is narrowed for whoever names it.
  const narrowed = narrowedMisfits(known?.canonical?.params ?? {}, assets).map((one) =>
    misfitProblem(call, one, field),
  );
  if (narrowed.length > 0) return narrowed;
  const taken = known !== undefined && sameFormat(formatId(call, known), format_id);
  if (!taken && format_id.agent_url !== call.agentUrl) return [];
  const sells = call.served.has("products");
  const named =
    sells && known === undefined && (await productsOf(call)).some(({ formats }) => formats.includes(format_id.id));
  const wanted = named ? formatFromId(format_id.id) : known;
  if (wanted === undefined) return [problem("REFERENCE_NOT_FOUND", `no format ${format_id.id}`, `${field}.format_id`)];
  const given = Object.values(assets).flat() as CreativeAsset[];
  return (wanted.assets ?? []).flatMap((asset) => assetProblems(asset, given, field));
}

/** What is taken, in terms of canonical formats: formats of the seller's, and what products declare for themselves. */
const takenFormats = (call: BehaviourCall): Promise<readonly DeclaredOption[]> =>
  call.once("taken formats", async () => {
    const own = formatOptions(call.agentUrl, [...(await formatsOf(call)).values()], call.shapes);
    const products = call.served.has("products") ? await productsOf(call) : [];
    const declared = products.flatMap(({ more }) => itemsIn<DeclaredOption>(more?.format_options));
    return [...own, ...declared];
  });

/**
 * Problems of an upload in a canonical format: it has to fit the one that it names, any of that kind that is taken, or else
 * the kind itself. Of several that it does not fit, those of the one it comes closest to.
 */
async function canonicalProblems(
  call: BehaviourCall,
  { format_kind: kind, format_option_ref: option, assets }: CreativeUpload,
  field: string,
): Promise<ProtocolError[]> {
  const ofKind = (await takenFormats(call)).filter(({ format_kind }) => format_kind === kind);
  const named = option === undefined ? [] : ofKind.filter((one) => isOption(one, option));
  const usual = call.shapes.canonical(kind ?? "");
  const types = new Set(Object.values(assets).flatMap((one) => [one].flat().map(({ asset_type }) => asset_type)));
  // Without its picture, film or sound there is nothing to show. Words and addresses that are missing are for the review to ask for.
  const bars = ({ rule, expected }: Misfit): boolean =>
    rule !== "required_slot" || (isMedia(expected) && !types.has(expected));
  // A library may have what nothing on sale takes yet: it is what the kind itself asks for.
  const candidates = [named, ofKind, [{}]].find(({ length }) => length > 0)! as readonly DeclaredOption[];
  const all = candidates.map(({ params = {} }) => misfits(params, assets, usual).filter(bars));
  const least = all.reduce((best, one) => (one.length < best.length ? one : best));
  return least.map((one) => misfitProblem(call, one, field));
}

/** The release's word for what an asset is not. */
function misfitProblem({ shapes }: BehaviourCall, { rule, field, message }: Misfit, at: string): ProtocolError {
  const listed = rule.endsWith("_values") && shapes.knowsError("CREATIVE_VALUE_NOT_ALLOWED");
  const refused = rule.endsWith("_values") || rule === "required_slot";
  const code = listed ? "CREATIVE_VALUE_NOT_ALLOWED" : refused ? "CREATIVE_REJECTED" : invalidCode(shapes);
  return problem(code, message, `${at}.${field}`);
}

function assetProblems(asset: FormatAsset, given: readonly CreativeAsset[], field: string): ProtocolError[] {
  const { asset_id, asset_type, required, requirements } = asset;
  const fitting = given.filter((one) => one.asset_type === undefined || one.asset_type === asset_type);
  const at = `${field}.assets.${asset_id}`;
  if (fitting.length === 0)
    return required ? [problem("CREATIVE_REJECTED", `the format needs an asset of type ${asset_type}`, at)] : [];
  const longest = requirements?.max_duration_ms;
  const tooLong = fitting.every(({ duration_ms }) => typeof duration_ms === "number" && duration_ms > Number(longest));
  return longest !== undefined && tooLong
    ? [problem("CREATIVE_REJECTED", `it may last ${longest} ms at most`, `${at}.duration_ms`)]
    : [];
}

const problem = (code: string, message: string, field: string): ProtocolError => ({
  code,
  message,
  field,
  recovery: "correctable",
});
