/** `validate_input`: a manifest looked at beside each target, without keeping or promising anything. */
import type { CanonicalSlot, JsonObject } from "../../contract/index.js";
import { ToolError } from "../../seller/tool-error.js";
import { capabilityId } from "../building/capability.js";
import { misfits } from "../formats/fit.js";
import { formatsOf, offeredFormats } from "../formats/formats.js";
import {
  canonicalKind,
  type DeclaredOption,
  formatOptions,
  isOption,
  type OptionRef,
  slotNames,
} from "../formats/options.js";
import type { ToolBehaviour } from "../frame/behaviour.js";
import type { BehaviourCall } from "../frame/call.js";
import { unsupported } from "../frame/invalid.js";
import { itemsIn } from "../frame/items-in.js";
import type { CreativeAsset, CreativeAssets, FormatId } from "../ports/creatives.js";
import { productOf, shownProduct } from "../products/products.js";

interface Manifest {
  readonly format_id?: FormatId;
  readonly format_kind?: string;
  readonly format_option_ref?: OptionRef;
  readonly assets?: CreativeAssets;
}

interface Target {
  readonly kind: string;
  readonly id: string;
}

interface Request {
  readonly manifest: Manifest;
  readonly targets?: readonly Target[];
}

interface Violation extends JsonObject {
  readonly rule: string;
  readonly field: string;
}

type Declarations = (call: BehaviourCall, id: string, field: string) => Promise<readonly DeclaredOption[]>;

/** @throws ToolError FORMAT_NOT_SUPPORTED */
function notThere(call: BehaviourCall, what: string, field: string): never {
  throw new ToolError(unsupported(call), what, { field });
}

/** What a target of each kind takes. */
const declarations: Readonly<Record<string, Declarations>> = {
  async canonical(call, id, field) {
    const known = call.shapes.request("validate_input").values("manifest", "format_kind") ?? [];
    if (!known.includes(id)) return notThere(call, `the release has no canonical format ${id}`, field);
    return [{ format_kind: id }];
  },
  async product(call, id, field) {
    const { format_options: options } = await shownProduct(call, await productOf(call, id, field));
    return itemsIn<DeclaredOption>(options);
  },
  async capability(call, id, field) {
    const found = call.served.has("building")
      ? (await offeredFormats(call)).find((one) => capabilityId(call.shapes, one.id) === id)
      : undefined;
    if (found === undefined) return notThere(call, `no capability ${id} is declared here`, field);
    return formatOptions(call.agentUrl, [found], call.shapes);
  },
};

/** The manifest in the terms of canonical formats: its kind, and its assets by slots. */
async function placed(
  call: BehaviourCall,
  { format_id, format_kind, assets = {} }: Manifest,
): Promise<{ readonly kind: string; readonly assets: CreativeAssets; readonly nameOf: (slot: string) => string }> {
  if (format_kind !== undefined || format_id === undefined)
    return { kind: format_kind ?? "", assets, nameOf: (slot) => slot };
  const format = (await formatsOf(call)).get(format_id.id);
  if (format === undefined) return notThere(call, `no format ${format_id.id} is known here`, "manifest.format_id");
  const kind = canonicalKind(format);
  const given = Object.entries(assets).map(([asset_id, one]) => {
    const [first] = [one].flat() as CreativeAsset[];
    return { asset_id, asset_type: first?.asset_type };
  });
  const slots = slotNames(given, call.shapes.canonical(kind));
  const own = new Map([...slots].map(([name, slot]) => [slot, name]));
  return {
    kind,
    assets: Object.fromEntries(Object.entries(assets).map(([name, one]) => [slots.get(name) ?? name, one])),
    nameOf: (slot) => own.get(slot) ?? slot,
  };
}

interface Verdict {
  readonly violations: readonly Violation[];
  readonly nondeterministic: boolean;
  readonly warnings: readonly Violation[];
}

const refused = (rule: string, expected: unknown, predicted: unknown, field = rule): Verdict => ({
  violations: [{ rule, field, expected, predicted }],
  nondeterministic: false,
  warnings: [],
});

/** Slots that the declaration does not have: what is in them is no mistake, and nobody will show it. */
function unusedSlots(params: JsonObject, assets: CreativeAssets, usual: readonly CanonicalSlot[]): Violation[] {
  const slots = itemsIn<{ asset_group_id?: unknown }>(params.slots ?? usual).map(({ asset_group_id: id }) => id);
  if (slots.length === 0) return [];
  return Object.keys(assets)
    .filter((name) => !slots.includes(name))
    .map((name) => ({ rule: "unknown_slot", field: `assets.${name}`, expected: slots }));
}

/** The declarations that the manifest means: the one it names, or those of its kind. */
function meant(manifest: Manifest, kind: string, all: readonly DeclaredOption[]): readonly DeclaredOption[] | Verdict {
  const { format_option_ref: ref, format_id } = manifest;
  const named =
    ref === undefined
      ? all.filter(({ v1_format_ref: refs }) => refs?.some((one) => one.id === format_id?.id))
      : all.filter((one) => isOption(one, ref));
  const ids = all.map((one) => one.format_option_id).filter((one) => one !== undefined);
  if (ref !== undefined && named.length === 0 && ids.length > 0)
    return refused("format_option_ref", ids, ref.format_option_id, "format_option_ref.format_option_id");
  const among = named.length > 0 ? named : all;
  const fitting = among.filter(({ format_kind }) => format_kind === kind);
  return fitting.length > 0 ? fitting : refused("format_kind", [...new Set(among.map((one) => one.format_kind))], kind);
}

async function verdictOn(call: BehaviourCall, manifest: Manifest, all: readonly DeclaredOption[]): Promise<Verdict> {
  const { kind, assets, nameOf } = await placed(call, manifest);
  const usual = call.shapes.canonical(kind) ?? [];
  const these = meant(manifest, kind, all);
  if ("violations" in these) return these;
  const named = <T extends { readonly field: string }>(one: T): T => ({
    ...one,
    field: one.field.replace(/^assets\.([^.]+)/, (_, slot: string) => `assets.${nameOf(slot)}`),
  });
  const each = these.map(
    ({ params = {} }): Verdict => ({
      violations: misfits(params, assets, usual).map(({ message: _, ...one }) => named(one)),
      nondeterministic: params.synthesis_nondeterministic === true,
      warnings: unusedSlots(params, assets, usual).map(named),
    }),
  );
  // Of several that it may be for, the one it comes closest to.
  return each.reduce((best, one) => (one.violations.length < best.violations.length ? one : best));
}

function shownVerdict(target: Target, { violations, nondeterministic, warnings }: Verdict): JsonObject {
  const passed = nondeterministic ? "unvalidatable_nondeterministic" : "validated_pass";
  return {
    target: { kind: target.kind, id: target.id },
    // What can be told before anything is made is told first.
    result_kind: violations.length > 0 ? "validated_fail" : passed,
    ...(violations.length > 0 && { violations }),
    ...(warnings.length > 0 && { warnings }),
  };
}

/**
 * One result a target, in their order. Without targets it is looked at beside its own canonical format.
 * @throws ToolError FORMAT_NOT_SUPPORTED for a target that is not had here: definitions that others publish are not fetched;
 *   PRODUCT_NOT_FOUND
 */
export const validateInput: ToolBehaviour = async ({ manifest, targets }: Request, call) => {
  const own = targets === undefined ? [{ kind: "canonical", id: (await placed(call, manifest)).kind }] : targets;
  const results: JsonObject[] = [];
  for (const [at, target] of own.entries()) {
    const field = targets === undefined ? "manifest.format_kind" : `targets[${at}].id`;
    const found = Object.hasOwn(declarations, target.kind) ? declarations[target.kind]! : undefined;
    const all =
      found === undefined
        ? notThere(call, `formats of kind ${target.kind} are not judged here`, field)
        : await found(call, target.id, field);
    results.push(shownVerdict(target, await verdictOn(call, manifest, all)));
  }
  return call.answer({ results });
};
