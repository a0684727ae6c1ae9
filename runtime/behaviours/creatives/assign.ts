/** Creatives onto packages of buys that still change. */
import { isDeepStrictEqual } from "node:util";
import {
  type BuyPackage,
  buyIdOfPackage,
  buyIsOver,
  buyState,
  findBuy,
  type MediaBuy,
  readPackages,
  revised,
  saveBuy,
} from "../buys/buys.js";
import { tellLater } from "../buys/news.js";
import type { BehaviourCall } from "../frame/call.js";
import { creativeFor } from "../library/creatives.js";
import { unsuitable } from "../library/suitable.js";
import { findProduct } from "../products/products.js";

export interface WantedAssignment {
  readonly creative_id: string;
  readonly package_id: string;
  readonly weight?: number;
  readonly placement_ids?: readonly string[];
}

/** What a creative's line says of its assignments. */
export interface Assigned {
  assigned_to?: string[];
  assignment_errors?: Record<string, string>;
}

export interface AssignmentsOf {
  /** Whose creatives and media buys they are. */
  readonly accountId: string;
  /** Where nothing is to be changed: creatives that would be there. */
  readonly rehearsed?: ReadonlySet<string> | undefined;
}

/** A buy as the assignments so far leave it: read once and kept once, however many of its packages are named. */
interface OpenBuy {
  readonly buy: MediaBuy;
  /** Why nothing more can be assigned in it. */
  readonly over: string | undefined;
  readonly packages: BuyPackage[];
  /** Where each package stands, by its id. */
  readonly places: ReadonlyMap<string, number>;
  /** Packages that have been changed. */
  readonly changed: string[];
}

export async function assignAll(
  call: BehaviourCall,
  wanted: readonly WantedAssignment[],
  of: AssignmentsOf,
): Promise<Map<string, Assigned>> {
  const outcome = new Map<string, Assigned>();
  const open = new Map<string, OpenBuy | undefined>();
  await readPackages(
    call,
    wanted.map(({ package_id }) => package_id),
  );
  for (const one of wanted) {
    const { creative_id, package_id } = one;
    const own = outcome.get(creative_id) ?? {};
    outcome.set(creative_id, own);
    const reason = await assignOne(call, one, of, open);
    if (reason === undefined) own.assigned_to = [...(own.assigned_to ?? []), package_id];
    else own.assignment_errors = { ...own.assignment_errors, [package_id]: reason };
  }
  for (const one of open.values()) if (one !== undefined && one.changed.length > 0) await saveAssigned(call, one);
  return outcome;
}

/** All of it is one change of the buy: who knew the revision before is one behind. */
async function saveAssigned(call: BehaviourCall, { buy, packages, changed }: OpenBuy): Promise<void> {
  const done = changed.map((package_id) => ({ action: "creative_assigned", package_id }));
  const after = revised({ ...buy, packages }, call.time, done);
  await saveBuy(call, after);
  tellLater(call, after);
}

async function openBuy(
  call: BehaviourCall,
  packageId: string,
  accountId: string,
  open: Map<string, OpenBuy | undefined>,
): Promise<OpenBuy | undefined> {
  const id = await buyIdOfPackage(call, packageId);
  if (id === undefined) return undefined;
  if (open.has(id)) return open.get(id);
  const buy = await findBuy(call, id);
  const own =
    buy === undefined || buy.account_id !== accountId
      ? undefined
      : {
          buy,
          over: buyIsOver(call, buy) ? `its media buy is ${await buyState(call, buy)}` : undefined,
          packages: [...buy.packages],
          places: new Map(buy.packages.map(({ package_id }, at) => [package_id, at])),
          changed: [],
        };
  open.set(id, own);
  return own;
}

/** @returns why it cannot be */
async function assignOne(
  call: BehaviourCall,
  { creative_id, package_id, weight, placement_ids }: WantedAssignment,
  { accountId, rehearsed }: AssignmentsOf,
  open: Map<string, OpenBuy | undefined>,
): Promise<string | undefined> {
  const creative = await creativeFor(call, creative_id, accountId);
  if (rehearsed?.has(creative_id) !== true && creative === undefined) return `no creative ${creative_id}`;
  const found = await openBuy(call, package_id, accountId, open);
  const place = found?.places.get(package_id);
  if (found === undefined || place === undefined) return `no package ${package_id}`;
  if (found.over !== undefined) return found.over;
  const named = found.packages[place]!;
  if (named.canceled === true) return "it is canceled";
  const product = await findProduct(call, named.product_id);
  const shown = creative && { ...creative.more, ...creative };
  const against = product && shown && (await unsuitable(call, product, shown, named.terms));
  if (against !== undefined) return against.message;
  if (rehearsed !== undefined) return undefined;
  const { creative_assignments: before } = named;
  const there = before.find((one) => one.creative_id === creative_id);
  // How it takes turns is not said here, and stays.
  const { weight: _w, placement_ids: _p, ...turn } = there ?? {};
  const assignment = {
    ...turn,
    creative_id,
    ...(weight !== undefined && { weight }),
    ...(placement_ids !== undefined && { placement_ids }),
  };
  // Said again, it changes nothing: who knows the revision still knows the buy.
  if (before.some((one) => isDeepStrictEqual(one, assignment))) return undefined;
  const others = before.filter((other) => other.creative_id !== creative_id);
  found.packages[place] = { ...named, creative_assignments: [...others, assignment] };
  found.changed.push(package_id);
  return undefined;
}
