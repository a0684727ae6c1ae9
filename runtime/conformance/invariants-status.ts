/** Resources go from state to state as the protocol lets them. */
import { isJsonObject } from "../contract/index.js";
import type { GradedCheck } from "./result.js";

type Graph = Readonly<Record<string, readonly string[]>>;

/** What a state may be followed by, state by state: `from: to to`. These are states of resources, not of tasks. */
const parsed = (lines: string): Graph =>
  Object.fromEntries(
    lines
      .trim()
      .split("\n")
      .map((line) => line.trim().split(":"))
      .map(([from, to]) => [from!, to!.split(" ").filter((one) => one !== "")]),
  );

const graphs: Readonly<Record<string, Graph>> = {
  media_buy: parsed(`
    pending_creatives: pending_start active paused canceled rejected
    pending_start: active paused canceled rejected
    active: paused completed canceled
    paused: active completed canceled
    completed:
    canceled:
    rejected:`),
  // Two reads of a creative may miss the review between them.
  creative: parsed(`
    processing: pending_review rejected approved
    pending_review: approved rejected
    approved: archived rejected
    archived: approved
    rejected: processing pending_review`),
};

/** Whether a state of a resource is its last. */
export const hasEnded = (kind: string, state: string): boolean => graphs[kind]?.[state]?.length === 0;

/** Lists of answers whose items have a state, and what they are known by. */
const lists: readonly { readonly list: string; readonly id: string; readonly kind: string }[] = [
  { list: "media_buys", id: "media_buy_id", kind: "media_buy" },
  { list: "creatives", id: "creative_id", kind: "creative" },
];

interface Event {
  readonly key: string;
  readonly kind: string;
  readonly state: string;
  readonly pointer: string;
}

function stateOf(item: Record<string, unknown>, kind: string): string | undefined {
  const state = kind === "media_buy" ? (item.media_buy_status ?? item.status) : item.status;
  return typeof state === "string" ? state : undefined;
}

function eventsOf(payload: unknown): Event[] {
  if (!isJsonObject(payload)) return [];
  const found: Event[] = [];
  const add = (item: unknown, { id, kind }: { id: string; kind: string }, pointer: string): void => {
    if (!isJsonObject(item) || typeof item[id] !== "string") return;
    const state = stateOf(item, kind);
    if (state !== undefined) found.push({ key: `${kind} ${item[id]}`, kind, state, pointer });
  };
  for (const of of lists) {
    const items = payload[of.list];
    if (Array.isArray(items)) for (const [index, item] of items.entries()) add(item, of, `/${of.list}/${index}`);
  }
  if (typeof payload.media_buy_status === "string") add(payload, lists[0]!, "");
  return found;
}

export class Monotonic {
  private readonly seen = new Map<string, string>();

  reset(): void {
    this.seen.clear();
  }

  observe({ answer }: { readonly answer: { readonly payload: unknown } }): GradedCheck | undefined {
    for (const { key, kind, state, pointer } of eventsOf(answer.payload)) {
      const before = this.seen.get(key);
      const graph = graphs[kind]!;
      if (!Object.hasOwn(graph, state)) {
        this.seen.delete(key);
        continue;
      }
      this.seen.set(key, state);
      if (before === undefined || before === state || graph[before]!.includes(state)) continue;
      return {
        check: "invariant status.monotonic",
        description: `${key} goes from state to state as the protocol lets it`,
        outcome: "failed",
        pointer,
        expected: { after: before, one_of: graph[before] },
        actual: state,
      };
    }
    return undefined;
  }
}
