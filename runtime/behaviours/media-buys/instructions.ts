/**
 * What the ad server is told, so that it happens once. Before it is told, the wish is written down, with what is to be kept
 * when it has come true; the ad server is told at least once, always under the same key; its outcome is kept in one
 * transaction with the removal of the wish. Whatever ends this process between those steps, the next one carries on.
 */
import { createHash } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import canonicalize from "canonicalize";
import { eachAlone } from "../../queue/periodic.js";
import { ToolError } from "../../seller/tool-error.js";
import { type DocumentChange, type DocumentPlace, StaleDocument } from "../../store/documents.js";
import { findBuy, type MediaBuy, saveBuy } from "../buys/buys.js";
import type { BehaviourCall, BehaviourToolCall } from "../frame/call.js";
import { collection } from "../frame/collection.js";
import { seldom } from "../frame/seldom.js";
import { reopenProposal } from "../products/proposal-ends.js";
import { isEnd, takenBack, writtenAhead } from "./ahead.js";
import { giveBackEnded } from "./governed.js";
import { saveAgreement } from "./orders.js";
import { type Instruction, type InstructionOutcome, PATIENCE_MS, tellAdServer } from "./telling.js";

const kept = collection<Instruction>("ad_server_instruction");
/** Those that are done, apart: what waits is looked through twice a second. */
const FINISHED = "ad_server_finished";
const finished = collection<Instruction>(FINISHED);
const TURN = "ad_server_turn";
/** Whose turn it is with a buy: changes of one buy are told one after the other, each made on what the one before left. */
const turns = collection<{ readonly key: string }>(TURN);

/** Until another process takes over, in milliseconds: an attempt, and what is written around it. */
const leaseOf = ({ ports }: BehaviourCall): number => (ports.adServer.patienceMs ?? PATIENCE_MS) + PATIENCE_MS;
/** The longest pause between attempts, in milliseconds. */
const MAX_PAUSE_MS = 60_000;
/** How long a change waits for the one before it, in milliseconds, and how often it looks. */
const TURN_MS = { most: 5_000, look: 50 } as const;
/** How long what was carried on is remembered, in milliseconds: as long as a call may be repeated. */
const REMEMBERED_MS = 7 * 86_400_000;
/** How often those that are older are looked for, in milliseconds. */
const FORGETTING_MS = 3_600_000;

/** The same for every repetition of a call. */
export async function instructionKey(call: BehaviourToolCall): Promise<string> {
  const { idempotencyKey, taskId } = call.context;
  const account = await call.context.accountNamed();
  const parts = [call.principal, call.tool, account ?? null, idempotencyKey ?? taskId];
  return `adbind-${createHash("sha256").update(canonicalize(parts)!).digest("hex").slice(0, 40)}`;
}

export const findInstruction = async (call: BehaviourCall, key: string): Promise<Instruction | undefined> =>
  // In this order: one that is finished meanwhile is found among those.
  (await kept.get(call, call.principal, key)) ?? finished.get(call, call.principal, key);

/** Those that are not done. */
export const instructionsOf = (call: BehaviourCall): Promise<Instruction[]> => kept.list(call, call.principal);

export const finishedOf = (call: BehaviourCall): Promise<Instruction[]> => finished.list(call, call.principal);

export const keepInstruction = (call: BehaviourCall, instruction: Instruction): void =>
  kept.put(call, call.principal, instruction.key, instruction);

/** Outcomes that were remembered for long enough are so no more. */
export const forgetFinished = seldom(FORGETTING_MS, async ({ settings, stopping, onBehalf }) => {
  await eachAlone(await settings.store.owners(FINISHED), async (principal) => {
    if (stopping.aborted) return;
    await onBehalf(principal, async (call) => {
      for (const { key, due } of await finishedOf(call))
        if (due <= call.ctx.now()) finished.remove(call, principal, key);
    });
  });
});

/** Refused, or not wanted any more: nothing comes of it. */
export async function abandonInstruction(call: BehaviourCall, instruction: Instruction): Promise<void> {
  dropInstruction(call, instruction);
  const { media_buy_id } = instruction.buy;
  for (const one of takenBack(instruction.writes)) {
    if (isEnd(one)) await reopenProposal(call, one.id, media_buy_id);
    else call.documents.remove(one.collection, one.owner, one.id);
  }
}

/** The same, where the answer is a failure, which keeps nothing itself. */
export const abandonedAtOnce = (call: BehaviourCall, { key, writes }: Instruction): Promise<void> => {
  const place = { collection: "ad_server_instruction", owner: call.principal, id: key };
  return call.store.commit([place, ...takenBack(writes)].map(gone));
};

/** Over. */
function dropInstruction(call: BehaviourCall, instruction: Pick<Instruction, "key" | "base">): void {
  kept.remove(call, call.principal, instruction.key);
  endTurn(call, instruction);
}

function endTurn(call: BehaviourCall, { base }: Pick<Instruction, "base">): void {
  if (base !== undefined) turns.remove(call, call.principal, base.media_buy_id);
}

const gone = ({ collection: name, owner, id }: DocumentPlace): DocumentChange => ({
  ...{ collection: name, owner, id },
  version: undefined,
  body: undefined,
});

/** What a call wants of the ad server. */
export interface Wish extends Pick<Instruction, "key" | "kind" | "buy" | "base"> {
  /** As an earlier try of the same call left it. */
  readonly known?: Instruction | undefined;
}

/**
 * Has the ad server do something as part of a call; what the call wrote so far is kept with it, whoever carries it on.
 * `open`: the answer is a task, or the call is to be repeated; see `awaited`.
 * @throws ToolError CONFLICT while another change of the buy waits for the ad server
 */
export async function instruct(call: BehaviourToolCall, { known, ...wish }: Wish): Promise<InstructionOutcome> {
  const { adServer } = call.ports;
  const { key, base } = wish;
  const fresh = { ...wish, tool: call.tool, release: call.release.version, attempts: 0, state: "open" } as const;
  // What keeps its orders where the documents are loses nothing that they do not lose.
  if (adServer.remembers === true) return tellAdServer(call, { ...fresh, writes: [], due: 0 });
  const instruction = known ?? { ...fresh, writes: call.documents.changes(), due: call.ctx.now() + leaseOf(call) };
  const place = { collection: "ad_server_instruction", owner: call.principal, id: key };
  const turn = base === undefined ? [] : [{ collection: TURN, owner: call.principal, id: base.media_buy_id }];
  const ahead = writtenAhead(instruction.writes);
  if (known === undefined) {
    const from = base === undefined ? [] : [await ownTurn(call, key, base)];
    const held = turn.map((at) => ({ ...at, version: 0, body: JSON.stringify({ key }) }));
    await call.store.commit([{ ...place, version: 0, body: JSON.stringify(instruction) }, ...held, ...from, ...ahead]);
  }
  // They were written beside this call: what the call does to them goes by the version that is there.
  for (const { collection: name, owner, id } of [place, ...turn, ...ahead]) call.documents.forget(name, owner, id);
  const outcome = await tellAdServer(call, instruction);
  // Failed answers keep nothing: what was refused is forgotten at once.
  if (outcome.kind === "refused") await call.store.commit([place, ...turn, ...takenBack(instruction.writes)].map(gone));
  if (outcome.kind !== "done") return outcome;
  // Another process may have carried it on meanwhile: then this call is done again, and finds what came of it.
  const now = await findInstruction(call, key);
  if (now === undefined || now.state === "done") throw new StaleDocument(place);
  dropInstruction(call, now);
  return { kind: "done", buy: await onWhatIsThere(call, instruction, outcome.buy) };
}

/** Has the ad server told of a buy as it is, by whoever carries instructions on; not now, where a change of it is under way. */
export async function instructLater(call: BehaviourCall, buy: MediaBuy): Promise<boolean> {
  const id = buy.media_buy_id;
  if ((await turns.get(call, call.principal, id)) !== undefined) return false;
  const key = `adbind-${id}-${buy.revision}`;
  const release = call.release.version;
  turns.put(call, call.principal, id, { key });
  const wish = { key, kind: "change", tool: "update_media_buy", state: "open", buy, base: buy, writes: [] } as const;
  keepInstruction(call, { ...wish, release, due: call.ctx.now(), attempts: 0 });
  return true;
}

/**
 * Waits for the change before this one.
 * @returns what the commit that takes the turn is to see unchanged: the buy that this change was made of
 * @throws StaleDocument where it is another by now: this change is then made on what is there
 */
async function ownTurn(call: BehaviourToolCall, key: string, base: MediaBuy): Promise<DocumentChange> {
  const place = { collection: TURN, owner: call.principal, id: base.media_buy_id };
  const until = performance.now() + TURN_MS.most;
  for (;;) {
    const found = await call.store.get(place);
    if (found === undefined || (JSON.parse(found.body) as { key: string }).key === key) break;
    if (performance.now() > until)
      throw new ToolError("CONFLICT", "Another change of this media buy waits for the ad server.", { retry_after: 5 });
    await setTimeout(TURN_MS.look);
  }
  const buy = { collection: "media_buy", owner: call.principal, id: base.media_buy_id };
  const stored = await call.store.get(buy);
  // Not by its revision: what holds a buy back changes without one.
  if (stored === undefined || stored.body !== JSON.stringify(base)) throw new StaleDocument(buy);
  return { ...buy, version: stored.version, body: stored.body, unchanged: true };
}

/** What was wished, on the buy as it is by now: creatives, impairments and states change without the ad server. */
async function onWhatIsThere(call: BehaviourCall, { base }: Instruction, wished: MediaBuy): Promise<MediaBuy> {
  const now = base === undefined ? undefined : await findBuy(call, base.media_buy_id);
  const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);
  if (base === undefined || now === undefined || same(now, base)) return wished;
  if (wished.revision === base.revision) return now;
  const assigned = (buy: MediaBuy, id: string) =>
    buy.packages.find(({ package_id }) => package_id === id)?.creative_assignments;
  const packages = wished.packages.map((one) => {
    const [before, since] = [base, now].map((buy) => assigned(buy, one.package_id));
    return since !== undefined && same(one.creative_assignments, before)
      ? { ...one, creative_assignments: since }
      : one;
  });
  const own = wished.history.slice(base.history.length);
  const revision = now.revision + 1;
  const { impairments, fixed } = now;
  return {
    ...wished,
    packages,
    revision,
    history: [...now.history, ...own.map((one) => ({ ...one, revision }))],
    ...(impairments !== undefined && { impairments }),
    ...(fixed !== undefined && fixed !== base.fixed && { fixed }),
  };
}

/** Carries an instruction on after the call: as a task that waits for it. @throws StaleDocument where it is over already */
export async function awaited(call: BehaviourToolCall, key: string): Promise<void> {
  const found = await findInstruction(call, key);
  const place = { collection: "ad_server_instruction", owner: call.principal, id: key };
  if (found === undefined || found.state === "done") throw new StaleDocument(place);
  keepInstruction(call, { ...found, taskId: call.context.taskId, due: call.ctx.now() });
}

/** The instruction as its next attempt leaves it, for a process that takes it on. */
export const taken = (call: BehaviourCall, instruction: Instruction): Instruction => ({
  ...instruction,
  attempts: instruction.attempts + 1,
  due: call.ctx.now() + leaseOf(call),
});

/** Not done yet: tried again after a while. */
export const postponed = (instruction: Instruction, now: number): Instruction => ({
  ...instruction,
  due: now + Math.min(1_000 * 2 ** instruction.attempts, MAX_PAUSE_MS),
});

/** The outcome of an instruction that is over by another's hand: nothing of it is to be kept again. */
export class InstructionOver extends Error {
  override readonly name = "InstructionOver";
}

/**
 * Done without the call that asked for it: what was to be kept is kept, and the outcome remembered for its repetition.
 * @throws InstructionOver where somebody else has done so
 */
export async function finishInstruction(
  call: BehaviourCall,
  instruction: Instruction,
  buy: MediaBuy,
): Promise<MediaBuy> {
  const found = await findInstruction(call, instruction.key);
  if (found === undefined || found.state !== "open") throw new InstructionOver(instruction.key);
  for (const { collection: name, owner, id, version = 0, body } of instruction.writes) {
    const now = await call.store.get({ collection: name, owner, id });
    // What somebody has written since is newer.
    if ((now?.version ?? 0) !== version || body === undefined) continue;
    call.documents.put(name, owner, id, JSON.parse(body) as object);
  }
  const booked = await onWhatIsThere(call, instruction, buy);
  await saveBuy(call, booked);
  await giveBackEnded(call, booked);
  if (instruction.kind === "book") saveAgreement(call, booked);
  // Nobody repeats what nobody asked for.
  if (found.buy.revision === found.base?.revision) {
    dropInstruction(call, found);
    return booked;
  }
  endTurn(call, instruction);
  kept.remove(call, call.principal, found.key);
  const over = { ...found, buy: booked, state: "done", writes: [], due: call.ctx.now() + REMEMBERED_MS } as const;
  finished.put(call, call.principal, found.key, over);
  return booked;
}
