/**
 * What the ad server is told, so that it happens once. Before it is told, the wish is written down, with what is to be kept
 * when it has come true; the ad server is told at least once, always under the same key; its outcome is kept in one
 * transaction with the removal of the wish. Whatever ends this process between those steps, the next one carries on.
 */
import { createHash } from "node:crypto";
import { ToolError } from "../../seller/tool-error.js";
import { type DocumentChange, StaleDocument } from "../../store/documents.js";
import { type MediaBuy, saveBuy } from "../buys/buys.js";
import type { BehaviourCall, BehaviourToolCall } from "../frame/call.js";
import { collection } from "../frame/collection.js";
import type { Booking } from "../ports/ad-server.js";
import { orderFor } from "./orders.js";

export type InstructionKind = "book" | "change" | "pause" | "resume" | "cancel";

export interface Instruction {
  /** The ad server's idempotency key. */
  readonly key: string;
  readonly kind: InstructionKind;
  /** The tool that asked for it: whose answer its outcome is. */
  readonly tool: string;
  /** `signature`: until a person has decided; `open`: to be told; `done`: kept for whoever repeats the call. */
  readonly state: "signature" | "open" | "done";
  /** The buy as it is to be. */
  readonly buy: MediaBuy;
  /** What else is kept with it. */
  readonly writes: readonly DocumentChange[];
  /** The task that waits for it. */
  readonly taskId?: string;
  readonly release: string;
  /** Unix milliseconds: nobody else carries it on before. */
  readonly due: number;
  readonly attempts: number;
}

const kept = collection<Instruction>("ad_server_instruction");

/** How long one attempt may take, in milliseconds: a buyer waits for the answer meanwhile. */
const PATIENCE_MS = 10_000;
/** Until another process takes over, in milliseconds: an attempt, and what is written around it. */
const leaseOf = ({ ports }: BehaviourCall): number => (ports.adServer.patienceMs ?? PATIENCE_MS) + PATIENCE_MS;
/** The longest pause between attempts, in milliseconds. */
const MAX_PAUSE_MS = 60_000;
/** How long what was carried on is remembered, in milliseconds: as long as a call may be repeated. */
const REMEMBERED_MS = 7 * 86_400_000;

/** The same for every repetition of a call. */
export function instructionKey(call: BehaviourToolCall): string {
  const { idempotencyKey, taskId, account } = call.context;
  const parts = [call.principal, call.tool, account ?? null, idempotencyKey ?? taskId];
  return `adbind-${createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 40)}`;
}

export const findInstruction = (call: BehaviourCall, key: string): Promise<Instruction | undefined> =>
  kept.get(call, call.principal, key);

export const instructionsOf = (call: BehaviourCall): Promise<Instruction[]> => kept.list(call, call.principal);

export const keepInstruction = (call: BehaviourCall, instruction: Instruction): void =>
  kept.put(call, call.principal, instruction.key, instruction);

export const dropInstruction = (call: BehaviourCall, key: string): void => kept.remove(call, call.principal, key);

export type InstructionOutcome =
  | { readonly kind: "done"; readonly buy: MediaBuy }
  | { readonly kind: "refused"; readonly error: ToolError }
  /** Nobody knows what became of it. */
  | { readonly kind: "open" };

/** Tells the ad server once more, under the instruction's key. */
export async function tellAdServer(call: BehaviourCall, { key, kind, buy }: Instruction): Promise<InstructionOutcome> {
  const { adServer } = call.ports;
  const signal = AbortSignal.timeout(adServer.patienceMs ?? PATIENCE_MS);
  const given = { idempotencyKey: key, signal };
  const order = orderFor(call, buy);
  const late = new Promise<never>((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
  });
  const told = async (): Promise<Booking | undefined> => {
    if (kind === "book") return adServer.book(order, given);
    if (buy.booking !== undefined) await adServer[kind](buy.booking, order, given);
    return buy.booking;
  };
  try {
    const booking = await Promise.race([told(), late]);
    return { kind: "done", buy: { ...buy, ...(booking !== undefined && { booking }) } };
  } catch (error) {
    if (error instanceof ToolError) return { kind: "refused", error };
    const { key: instruction, media_buy_id: mediaBuyId } = { key, ...buy };
    call.ctx.logger?.warn(
      { err: error, instruction, kind, mediaBuyId },
      "the ad server gave no answer; it is asked again",
    );
    return { kind: "open" };
  }
}

/**
 * Has the ad server do something as part of a call; what the call wrote so far is kept with it, whoever carries it on.
 * `open`: the answer is a task, or the call is to be repeated; see `awaited`.
 */
export async function instruct(
  call: BehaviourToolCall,
  key: string,
  kind: InstructionKind,
  buy: MediaBuy,
): Promise<InstructionOutcome> {
  const { adServer } = call.ports;
  const release = call.release.version;
  const base = { key, kind, tool: call.tool, buy, release, attempts: 0 } as const;
  // What keeps its orders where the documents are loses nothing that they do not lose.
  if (adServer.remembers === true) return tellAdServer(call, { ...base, state: "open", writes: [], due: 0 });
  const known = await findInstruction(call, key);
  const instruction: Instruction = known ?? {
    ...base,
    state: "open",
    writes: call.documents.changes(),
    due: call.ctx.now() + leaseOf(call),
  };
  const place = { collection: "ad_server_instruction", owner: call.principal, id: key };
  if (known === undefined) await call.store.commit([{ ...place, version: 0, body: JSON.stringify(instruction) }]);
  // It was written beside this call: what the call does to it goes by the version that is there.
  call.documents.forget(place.collection, place.owner, place.id);
  const outcome = await tellAdServer(call, instruction);
  // Failed answers keep nothing: what was refused is forgotten at once.
  if (outcome.kind === "refused") await call.store.commit([{ ...place, version: undefined, body: undefined }]);
  // Another process may have carried it on meanwhile: then this call is done again, and finds what came of it.
  if (outcome.kind === "done" && (await findInstruction(call, key)) !== undefined) dropInstruction(call, key);
  return outcome;
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

/** Done without the call that asked for it: what was to be kept is kept, and the outcome remembered for its repetition. */
export async function settled(call: BehaviourCall, instruction: Instruction, buy: MediaBuy): Promise<void> {
  for (const { collection: name, owner, id, version = 0, body } of instruction.writes) {
    const now = await call.store.get({ collection: name, owner, id });
    // What somebody has written since is newer.
    if ((now?.version ?? 0) !== version || body === undefined) continue;
    call.documents.put(name, owner, id, JSON.parse(body) as object);
  }
  await saveBuy(call, buy);
  keepInstruction(call, { ...instruction, buy, state: "done", writes: [], due: call.ctx.now() + REMEMBERED_MS });
}
