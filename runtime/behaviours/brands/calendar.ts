/** Who holds which rights when. One document for each offering: two buyers at once cannot both get what only one may have. */
import type { BehaviourCall } from "../frame/call.js";
import { collection } from "../frame/collection.js";
import { EVERYBODY } from "../frame/documents.js";

interface Held {
  readonly grant_id: string;
  readonly exclusive: boolean;
  /** Dates such as 2027-03-31. */
  readonly start: string;
  readonly end: string;
}

const kept = collection<{ readonly held: readonly Held[] }>("rights_calendar");

const heldOf = async (call: BehaviourCall, offering: string): Promise<readonly Held[]> => {
  const today = call.time.slice(0, 10);
  return ((await kept.get(call, EVERYBODY, offering))?.held ?? []).filter(({ end }) => end >= today);
};

/** Is somebody the only one who may use the rights today? */
export const exclusiveNow = async (call: BehaviourCall, offering: string): Promise<boolean> =>
  (await heldOf(call, offering)).some(({ exclusive, start }) => exclusive && start <= call.time.slice(0, 10));

/** Keeps the days for a licence, instead of those it had. False where somebody's exclusive licence, or this one, forbids it. */
export async function holdDays(call: BehaviourCall, offering: string, wanted: Held): Promise<boolean> {
  const others = (await heldOf(call, offering)).filter(({ grant_id }) => grant_id !== wanted.grant_id);
  const overlap = others.filter(({ start, end }) => start <= wanted.end && end >= wanted.start);
  if (overlap.some(({ exclusive }) => exclusive || wanted.exclusive)) return false;
  kept.put(call, EVERYBODY, offering, { held: [...others, wanted] });
  return true;
}

export async function releaseDays(call: BehaviourCall, offering: string, grantId: string): Promise<void> {
  const held = await heldOf(call, offering);
  if (!held.some(({ grant_id }) => grant_id === grantId)) return;
  kept.put(call, EVERYBODY, offering, { held: held.filter(({ grant_id }) => grant_id !== grantId) });
}
