/** Rights to change a buy that were agreed to with it: where its agreement names some, those and nothing else, each within its bounds. */
import type { JsonObject } from "../../contract/index.js";
import { ToolError } from "../../seller/tool-error.js";
import { actionsIn, type BuyState, isLivePackage, type MediaBuy } from "../buys/buys.js";
import type { BehaviourCall } from "../frame/call.js";
import type { AttemptedAction, MeasuredChange } from "./attempts.js";

interface Span {
  readonly interval: number;
  readonly unit: string;
}

/** Bounds of all kinds: which there are goes by the action. */
interface Bounds {
  readonly max_delta_amount?: { readonly amount: number };
  readonly max_delta_percent?: number;
  readonly min_result_amount?: { readonly amount: number };
  readonly max_result_amount?: { readonly amount: number };
  readonly max_change?: Span;
  readonly earliest_result?: string;
  readonly latest_result?: string;
  readonly minimum_notice?: Span;
  readonly max_additions?: number;
  readonly max_removals?: number;
  readonly max_result_count?: number;
  readonly earliest_effective_at?: string;
  readonly latest_effective_at?: string;
}

export interface ChangeRight {
  readonly term_id: string;
  readonly action: string;
  readonly service_mode: string;
  /** Wherever the action has a meaning, where left out. */
  readonly allowed_statuses?: readonly string[];
  readonly processing_sla?: JsonObject;
  /** Names of what has to be so, in words that are not for programs. */
  readonly conditions?: readonly string[];
  readonly constraints?: Bounds;
}

/** Undefined where nothing was agreed to of changes. */
export const rightsOf = ({ accepted }: MediaBuy): readonly ChangeRight[] | undefined =>
  accepted?.commercial_terms.change_terms as readonly ChangeRight[] | undefined;

/** Only a change of the agreement gives these. */
const byAgreement: ReadonlySet<string> = new Set([
  ...["extend_flight", "shorten_flight", "update_flight_dates", "add_packages"],
]);
const byCreatives: ReadonlySet<string> = new Set([
  ...["replace_creative", "update_creative_assignments", "remove_creative"],
]);
/** What is done at once, within what is agreed to. */
const atOnce: ReadonlySet<string> = new Set(["self_serve", "conditional_self_serve"]);
const onlyControlled: ReadonlySet<string> = new Set(["pause", "resume"]);

/** The tool that an action is asked for by; what somebody has to look at is asked for as a change of the agreement. */
function taskOf(action: string, mode = "self_serve"): string {
  if (byCreatives.has(action)) return "sync_creatives";
  if (byAgreement.has(action) || (!atOnce.has(mode) && !onlyControlled.has(action))) return "refine_proposals";
  return "control_media_buy";
}

/** A buy is paused and resumed by turns; everything else may be done as long as it is not over. */
const isMeant = (action: string, state: BuyState): boolean =>
  onlyControlled.has(action) ? actionsIn(state).includes(action) : actionsIn(state).length > 0;

const isNow = ({ action, allowed_statuses: states }: ChangeRight, state: BuyState): boolean =>
  isMeant(action, state) && (states?.includes(state) ?? true);

/** Rights that may be exercised as the buy is; of one with a condition nobody here can tell. */
export const shownRights = (rights: readonly ChangeRight[], state: BuyState): JsonObject[] =>
  rights
    .filter((one) => isNow(one, state) && one.conditions === undefined)
    .map(({ term_id, action, service_mode: mode, processing_sla: sla }) => ({
      ...{ task: taskOf(action, mode), action, mode },
      ...(sla !== undefined && { sla }),
      change_term_id: term_id,
    }));

function hindrance(right: ChangeRight | undefined, state: BuyState): string | undefined {
  if (right === undefined) return "not_supported_on_buy";
  if (!isNow(right, state)) return "wrong_status";
  if (right.conditions !== undefined) return "condition_unresolved";
  return atOnce.has(right.service_mode) ? undefined : "mode_mismatch";
}

const units: Readonly<Record<string, number>> = { seconds: 1_000, minutes: 60_000, hours: 3_600_000, days: 86_400_000 };
/** As long as the campaign bounds nothing. */
const longest = ({ interval, unit }: Span): number => interval * (units[unit] ?? Number.POSITIVE_INFINITY);
const shortest = ({ interval, unit }: Span): number => interval * (units[unit] ?? 0);

type Exceeds = (bounds: Required<Bounds>, change: MeasuredChange, now: number) => boolean;

const far = ({ before, after }: MeasuredChange): number => Math.abs(after - before);

const exceeds = {
  max_delta_amount: ({ max_delta_amount: most }, change) => far(change) > most.amount,
  max_delta_percent: ({ max_delta_percent: most }, change) => far(change) * 100 > most * change.before,
  min_result_amount: ({ min_result_amount: least }, { after }) => after < least.amount,
  max_result_amount: ({ max_result_amount: most }, { after }) => after > most.amount,
  max_change: ({ max_change: most }, change) => far(change) > longest(most),
  earliest_result: ({ earliest_result: first }, { after }) => after < Date.parse(first),
  latest_result: ({ latest_result: last }, { after }) => after > Date.parse(last),
  minimum_notice: ({ minimum_notice: least }, { before, after }, now) =>
    Math.min(before, after) - now < shortest(least),
  max_additions: ({ max_additions: most }, { before, after }) => after - before > most,
  max_removals: ({ max_removals: most }, { before, after }) => before - after > most,
  max_result_count: ({ max_result_count: most }, { after }) => after > most,
  earliest_effective_at: ({ earliest_effective_at: first }, _change, now) => now < Date.parse(first),
  latest_effective_at: ({ latest_effective_at: last }, _change, now) => now > Date.parse(last),
} satisfies { readonly [name in keyof Bounds]-?: Exceeds };

/** The bound of a right that a change goes beyond. */
function exceeded({ constraints = {} }: ChangeRight, change: MeasuredChange, now: number): string | undefined {
  const names = Object.keys(exceeds) as (keyof Bounds)[];
  return names.find(
    (name) => constraints[name] !== undefined && exceeds[name](constraints as Required<Bounds>, change, now),
  );
}

export interface Righted {
  readonly buy: MediaBuy;
  readonly state: BuyState;
  readonly rights: readonly ChangeRight[];
}

/** Packages that go are counted together; what has no measure of its own is done now. */
function measure(
  { packages }: MediaBuy,
  { action, change }: AttemptedAction,
  all: readonly AttemptedAction[],
  now: number,
): MeasuredChange {
  if (action !== "remove_packages") return change ?? { before: now, after: now };
  const before = packages.filter(isLivePackage).length;
  return { before, after: before - all.filter((one) => one.action === action).length };
}

/**
 * Looks a change through by what was agreed to.
 * @throws ToolError ACTION_NOT_ALLOWED for what there is no right to now, REQUOTE_REQUIRED for more than a right gives
 */
export function checkRights(
  { now }: BehaviourCall,
  { buy, state, rights }: Righted,
  all: readonly AttemptedAction[],
): void {
  for (const attempt of all) {
    const { action, field } = attempt;
    const right = rights.find((one) => one.action === action);
    const reason = hindrance(right, state);
    if (right === undefined || reason !== undefined)
      throw new ToolError("ACTION_NOT_ALLOWED", `${action} is not to be done so: ${reason?.replaceAll("_", " ")}`, {
        field,
        recovery: reason === "not_supported_on_buy" ? "terminal" : "correctable",
        details: { attempted_action: action, reason, currently_available_actions: shownRights(rights, state) },
      });
    const constraint = exceeded(right, measure(buy, attempt, all, now.getTime()), now.getTime());
    if (constraint !== undefined)
      throw new ToolError("REQUOTE_REQUIRED", `${action} goes beyond what was agreed to`, {
        field,
        details: { envelope_field: field, change_term_id: right.term_id, constraint },
      });
  }
}

/** Older words, each as the later ones that it stands for. */
const finer: Readonly<Record<string, readonly string[]>> = {
  update_budget: ["increase_budget", "decrease_budget", "reallocate_budget"],
  update_dates: ["extend_flight", "shorten_flight", "update_flight_dates"],
  update_packages: ["update_targeting", "update_pacing", "remove_packages"],
  sync_creatives: ["update_creative_assignments"],
};

/** What products allow, in the words and by the tools of a release that names them. */
export function routedActions(shown: readonly JsonObject[]): JsonObject[] {
  const found = new Map<unknown, JsonObject>();
  for (const one of shown)
    for (const action of finer[String(one.action)] ?? [String(one.action)])
      if (!found.has(action)) found.set(action, { task: taskOf(action), ...one, action });
  return [...found.values()];
}
