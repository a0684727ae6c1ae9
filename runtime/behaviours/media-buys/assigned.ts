/** Creatives on a package: how they take turns, and where they run. */
import { isJsonObject } from "../../contract/index.js";
import { ToolError } from "../../seller/tool-error.js";
import type { BehaviourCall } from "../frame/call.js";
import { invalid } from "../frame/invalid.js";
import { creativeFor, readCreatives } from "../library/creatives.js";
import { unsuitable } from "../library/suitable.js";
import type { CreativeAssignment } from "../ports/ad-server.js";
import type { Product } from "../ports/catalogue.js";
import type { CreativeUpload } from "../ports/creatives.js";
import type { Overlay, PlacementRef } from "../products/overlay.js";

/** Members of an assignment that say how a creative runs. */
const kept: readonly (keyof CreativeAssignment)[] = [
  "creative_id",
  "weight",
  "rotation_mode",
  "group_id",
  "sequence_position",
  "placement_refs",
  "placement_ids",
];

/** What is assigned by name, and what is uploaded with it. */
export const assignments = (
  named: readonly CreativeAssignment[] | undefined,
  uploaded: readonly { readonly creative_id: string }[] | undefined,
): CreativeAssignment[] => [
  ...(named ?? []).map(
    (one) =>
      Object.fromEntries(
        kept.flatMap((name) => (one[name] === undefined ? [] : [[name, one[name]]])),
      ) as unknown as CreativeAssignment,
  ),
  ...(uploaded ?? []).map(({ creative_id }) => ({ creative_id })),
];

/** The creatives that packages name, read at once: each is looked for hereafter. */
export const readAssigned = (
  call: BehaviourCall,
  packages: readonly { readonly creative_assignments?: readonly CreativeAssignment[] }[],
): Promise<void> =>
  readCreatives(
    call,
    packages.flatMap(({ creative_assignments: all = [] }) => all.map(({ creative_id }) => creative_id)),
  );

interface SuitableOptions {
  /** Whose the package is. */
  readonly accountId: string;
  readonly uploads: readonly CreativeUpload[] | undefined;
  readonly before?: readonly CreativeAssignment[];
  /** What the package says of the formats that it is for. */
  readonly formats: Parameters<typeof unsuitable>[3];
  /** Where the package stands in the request. */
  readonly field: string;
}

/**
 * Creatives that are there have to be what the product runs; those that are not yet are looked at when they are assigned.
 * @throws ToolError CREATIVE_REJECTED, or what the release has for it
 */
export async function checkSuitable(
  call: BehaviourCall,
  product: Product,
  assigned: readonly CreativeAssignment[],
  of: SuitableOptions,
): Promise<void> {
  const uploads = new Map((of.uploads ?? []).map((one, at) => [one.creative_id, { one, at }]));
  for (const [index, { creative_id: id }] of assigned.entries()) {
    const sent = uploads.get(id);
    // What was taken before was looked at before.
    if (sent === undefined && of.before?.some((one) => one.creative_id === id)) continue;
    const found = sent === undefined ? await creativeFor(call, id, of.accountId) : undefined;
    const shown = sent?.one ?? (found && { ...found.more, ...found });
    const against = shown && (await unsuitable(call, product, shown, of.formats));
    if (against === undefined) continue;
    const at = sent === undefined ? `creative_assignments[${index}]` : `creatives[${sent.at}]`;
    throw new ToolError(against.code, against.message, { field: `${of.field}.${at}` });
  }
}

const modeOf = ({ rotation_mode }: CreativeAssignment): string => rotation_mode ?? "weighted";

const turnOf = ({ group_id, sequence_position }: CreativeAssignment): string =>
  JSON.stringify([group_id ?? null, sequence_position]);

/** The placements that an overlay buys; undefined where it does not name them. */
function boughtIn(overlay: Overlay | undefined): readonly PlacementRef[] | undefined {
  const selection = overlay?.placement_selection;
  return isJsonObject(selection) ? selection.placement_refs : undefined;
}

const isBought = (bought: readonly PlacementRef[], { publisher_domain: domain, placement_id: id }: PlacementRef) =>
  bought.some((one) => one.placement_id === id && (domain === undefined || one.publisher_domain === domain));

/** Where a creative is to run; the shorthand counts where nothing else is said. */
const routesOf = ({ placement_refs: refs, placement_ids: ids }: CreativeAssignment): readonly PlacementRef[] =>
  refs ?? (ids ?? []).map((placement_id) => ({ placement_id }));

/**
 * One way of taking turns in a package, each turn once, and no creative where nothing was bought.
 * @param at where the assignments stand in the request
 * @throws ToolError VALIDATION_ERROR
 */
export function checkAssigned(
  call: BehaviourCall,
  all: readonly CreativeAssignment[],
  overlay: Overlay | undefined,
  at: string,
): void {
  const wrong = (index: number, member: string, message: string): ToolError =>
    invalid(call, message, `${at}[${index}].${member}`);
  const mixed = all.findIndex((one) => modeOf(one) !== modeOf(all[0]!));
  if (mixed >= 0) throw wrong(mixed, "rotation_mode", `the creatives of one package rotate ${modeOf(all[0]!)}`);
  const taken = new Set<string>();
  const again = all.findIndex((one) => {
    if (one.sequence_position === undefined) return false;
    const isTaken = taken.has(turnOf(one));
    taken.add(turnOf(one));
    return isTaken;
  });
  if (again >= 0) throw wrong(again, "sequence_position", "this turn is another creative's");
  const bought = boughtIn(overlay);
  const lost = bought === undefined ? -1 : all.findIndex((one) => !routesOf(one).every((ref) => isBought(bought, ref)));
  if (lost < 0) return;
  const member = all[lost]!.placement_refs === undefined ? "placement_ids" : "placement_refs";
  throw wrong(lost, member, "that placement is not among those the package buys");
}
