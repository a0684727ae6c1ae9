/** What sellers and buyers know of the orders between them, and whether they know the same. */
import { isTerminal, type TaskStatus } from "../../runtime/contract/index.js";

/** Over MCP and A2A; `mute` is one over MCP that cannot be asked for its tasks. */
export const sellerKinds = ["mcp", "a2a", "mute"] as const;
export type SellerKind = (typeof sellerKinds)[number];

/** What is ordered, and what is agreed to where a seller asks. */
export const WANTED_BUDGET = 1_000;
export const AGREED_BUDGET = 500;

/** In place of what was bought, where a handler of the receiver alone was told, and its process was killed then. */
export const LEFT_TO_HANDLER = "left to its handler";

export const isOver = (status: TaskStatus): boolean => isTerminal(status);

/** An order in its seller's books. */
export interface BookedOrder {
  readonly po: string;
  readonly key: string;
  readonly seller: SellerKind;
  readonly operationId: string | undefined;
  readonly taskId: string;
  status: TaskStatus;
  buy: string | undefined;
  /** It did not end with its call, so that webhooks may tell of it. */
  isTask: boolean;
  asks: boolean;
  /** Keys of what was answered to its question. */
  readonly answers: Set<string>;
  /** Its last change that was told, unix milliseconds. */
  last: number;
  endedAt: number | undefined;
}

/** What a buyer's application wrote of an end. */
export interface ToldEnd {
  readonly po: string;
  readonly status: string;
  readonly buy: string | null;
}

/** What a handler of the receiver wrote of an event. */
export interface HandledEvent {
  readonly task: string;
  readonly key: string;
  readonly status: string;
  readonly buy: string | null;
}

export interface BuyerBooks {
  readonly orders: readonly BookedOrder[];
  readonly told: readonly ToldEnd[];
  readonly handled: readonly HandledEvent[];
  /** Events that a receiver has said it takes: key, and what it was. */
  readonly taken: ReadonlyMap<string, string>;
}

/** Of a seller that can be asked nothing need be left to a handler. */
const isLeft = ({ buy }: ToldEnd, seller: SellerKind): boolean => seller === "mute" && buy === LEFT_TO_HANDLER;

/** What must hold: each order ended, its end told once and truly, each event that was taken handled once, and nothing beside them. */
export function auditOrdered({ orders, told, handled, taken }: BuyerBooks): string[] {
  const faults: string[] = [];
  const byPo = Map.groupBy(told, ({ po }) => po);
  const byTask = Map.groupBy(handled, ({ task }) => task);
  const byKey = Map.groupBy(handled, ({ key }) => key);
  const known = new Set(orders.map(({ po }) => po));
  const tasks = new Set(orders.map(({ taskId }) => taskId));
  for (const { po, seller, status, buy, taskId, isTask, asks } of orders) {
    const name = `${po} (${seller}${asks ? ", asked" : ""})`;
    const ends = byPo.get(po) ?? [];
    if (!isOver(status)) faults.push(`${name} has not ended: ${status}`);
    else if (ends.length !== 1) faults.push(`${name}, ${status}, was told ${ends.length} times`);
    else if (ends[0]!.status !== status || !(isLeft(ends[0]!, seller) || (ends[0]!.buy ?? undefined) === buy))
      faults.push(`${name} is ${status} ${buy} and was told as ${ends[0]!.status} ${ends[0]!.buy}`);
    const terminal = (byTask.get(taskId) ?? []).filter((event) => isOver(event.status as TaskStatus));
    if (terminal.length > 1) faults.push(`the end of ${name} was handled ${terminal.length} times`);
    for (const event of terminal)
      if (event.status !== status || (event.buy ?? undefined) !== buy)
        faults.push(`${name} is ${status} ${buy} and was handled as ${event.status} ${event.buy}`);
    if (isTask && terminal.length === 0 && !asks && isOver(status)) faults.push(`the end of ${name} was not handled`);
  }
  for (const [key, what] of taken) if (!byKey.has(key)) faults.push(`${what} was taken and not handled`);
  for (const [key, rows] of byKey) if (rows.length > 1) faults.push(`event ${key} was handled ${rows.length} times`);
  for (const { po } of told) if (!known.has(po)) faults.push(`${po} was told of, and is in no seller's books`);
  for (const { task } of handled) if (!tasks.has(task)) faults.push(`${task} was handled, and is in no seller's books`);
  return faults;
}
