/** A seller before buyers that are killed: its books say what was ordered, and it loses answers, is slow, busy, or talks nonsense. */
import { createHash, randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { JsonObject, TaskStatus } from "../../runtime/contract/index.js";
import { capabilities, failing } from "../buyer/fixtures.js";
import { type Agent, type Heard, type Says, startAgent } from "../support/agent.js";
import { bought, type SellerKey, sellerKey } from "../support/receiver.js";
import { AGREED_BUDGET, type BookedOrder, isOver, type SellerKind } from "./buyer-books.js";

/** What becomes of orders, each as often as it stands here. */
const plans = ["now", "now", "now", "refused", "later", "later", "later", "asks", "asks", "asks later"] as const;
/** How a task ends. */
const ends = ["completed", "completed", "completed", "rejected", "failed"] as const;

const one = <T>(of: readonly T[]): T => of[Math.floor(Math.random() * of.length)]!;
const upTo = (ms: number): number => Math.random() * ms;

/** The same for the same members, in whatever order. */
const digestOf = (value: unknown): string =>
  createHash("sha256")
    .update(
      JSON.stringify(value, (_name, part: unknown) =>
        typeof part === "object" && part !== null && !Array.isArray(part)
          ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
          : part,
      ),
    )
    .digest("hex");

/** What a key was answered with. */
interface Answered {
  readonly digest: string;
  readonly says: Says;
  readonly po: string;
}

/** Tells an event of an order by webhook, until it is taken. */
export type Tell = (order: BookedOrder, event: JsonObject) => void;

export class SellerDouble {
  readonly key: SellerKey = sellerKey("key-1");
  readonly orders = new Map<string, BookedOrder>();
  readonly faults: string[] = [];
  calls = 0;
  /** From now on it answers everything at once, and truly. */
  calm = false;
  #agent: Agent | undefined;
  readonly #answers = new Map<string, Answered>();

  constructor(
    readonly kind: SellerKind,
    private readonly tell: Tell,
  ) {}

  get url(): string {
    return this.kind === "a2a" ? this.#agent!.url : this.#agent!.mcp;
  }

  async start(): Promise<void> {
    this.#agent = await startAgent({
      a2a: this.kind === "a2a" ? "1.0" : false,
      answer: (heard) => {
        this.#agent!.heard.length = 0;
        return this.#answer(heard);
      },
    });
  }

  stop = async (): Promise<void> => this.#agent?.close();

  async #answer(heard: Heard): Promise<Says> {
    if (heard.tool === "get_agent_capabilities") return { payload: capabilities() };
    this.calls += 1;
    const luck = this.calm ? 1 : Math.random();
    if (luck < 0.05) return { http: 429 };
    if (luck < 0.1) return { http: 503 };
    if (luck < 0.13) return { drop: true };
    if (luck < 0.2) await sleep(upTo(600));
    if (heard.tool !== "create_media_buy") return this.#polled(heard);
    const says = this.#ordered(heard);
    // It is done from here on, whatever is heard of it.
    if (luck > 0.2 && luck < 0.35) await sleep(upTo(600));
    if (luck > 0.3 && luck < 0.4) return { drop: true };
    if (luck > 0.4 && luck < 0.43) return { http: 200, body: '{"jsonrpc":"2.0","id":' };
    if (luck > 0.43 && luck < 0.45) return { rpc: { code: -32603, message: "out of luck" } };
    return says;
  }

  #fault(text: string): void {
    this.faults.push(`${this.kind}: ${text}`);
  }

  /** One order, or an answer to what one asked: done once under its key, and answered alike under it again. */
  #ordered({ args, push, message }: Heard): Says {
    const key = String(args.idempotency_key);
    const sent = ((message.params as JsonObject).message ?? {}) as JsonObject;
    const { push_notification_config: _, ...rest } = args;
    const thread = this.kind === "a2a" ? sent.taskId : args.context_id;
    const digest = digestOf([rest, push, thread]);
    const known = this.#answers.get(key);
    if (known !== undefined && known.digest !== digest) {
      this.#fault(`another payload came under the key of ${args.po_number}`);
      return failing({ code: "IDEMPOTENCY_CONFLICT", message: "another payload" });
    }
    if (known !== undefined) return this.#again(known);
    const says =
      typeof thread === "string" ? this.#answered(thread, key, args) : this.#made(String(args.po_number), key, push);
    const po = typeof thread === "string" ? thread.replace(/^(task|talk)-/, "") : String(args.po_number);
    this.#answers.set(key, { digest, says, po });
    return says;
  }

  /** Some answer as they did at first, others with what has come of it since. */
  #again({ says, po }: Answered): Says {
    const order = this.orders.get(po);
    const now = order?.isTask && "payload" in says && !says.isError && Math.random() < 0.5 ? this.#says(order) : says;
    return "payload" in now ? { ...now, payload: { ...now.payload, replayed: true } } : now;
  }

  #made(po: string, key: string, push: JsonObject | undefined): Says {
    if (this.orders.has(po)) {
      this.#fault(`${po} was ordered twice`);
      return failing({ code: "INVALID_REQUEST", message: "twice" });
    }
    const drawn = one(plans);
    // A question that only a webhook tells is its handler's to keep: who starts anew could not ask for it.
    const plan = drawn === "asks later" && this.kind === "mute" ? "later" : drawn;
    const order: BookedOrder = {
      ...{ po, key, seller: this.kind, operationId: push?.operation_id as string | undefined, taskId: `task-${po}` },
      ...{ status: "submitted", buy: undefined, isTask: plan !== "now" && plan !== "refused", answers: new Set() },
      ...{ asks: false, last: 0, endedAt: undefined },
    };
    this.orders.set(po, order);
    if (plan === "now") return this.#says(this.#ended(order, "completed"));
    if (plan === "refused") {
      this.#ended(order, "failed");
      return failing({ code: "BUDGET_TOO_LOW", message: "more" });
    }
    if (plan === "asks") return this.#says(this.#asking(order));
    void this.#later(order, plan === "asks later");
    return this.#says(order);
  }

  #answered(thread: string, key: string, args: JsonObject): Says {
    const order = this.orders.get(thread.replace(/^(task|talk)-/, ""));
    if (order === undefined || order.answers.size > 0 || !order.asks) {
      this.#fault(
        `${thread} was answered ${order === undefined ? "out of nothing" : `${order.answers.size + 1} times`}`,
      );
      return failing({ code: "INVALID_REQUEST", message: "nothing was asked" });
    }
    if ((args.packages as { budget: number }[])[0]?.budget !== AGREED_BUDGET) this.#fault(`${thread} lost its answer`);
    order.answers.add(key);
    if (Math.random() < 0.5) return this.#says(this.#ended(order, "completed"));
    order.status = "submitted";
    void this.#later(order, false);
    return this.#says(order);
  }

  #asking(order: BookedOrder): BookedOrder {
    order.asks = true;
    order.status = "input-required";
    return order;
  }

  #ended(order: BookedOrder, status: TaskStatus): BookedOrder {
    order.status = status;
    order.buy = status === "completed" ? `mb-${order.po}` : undefined;
    order.endedAt = performance.now();
    return order;
  }

  /** Goes on by itself, and tells. */
  async #later(order: BookedOrder, asks: boolean): Promise<void> {
    // Some are told of before their call is answered.
    await sleep(one([0, upTo(100), upTo(700)]));
    if (Math.random() < 0.5) this.#tells(order, "working");
    await sleep(one([0, upTo(300)]));
    this.#tells(asks ? this.#asking(order) : this.#ended(order, one(ends)));
  }

  #tells(order: BookedOrder, status: TaskStatus = order.status): void {
    const at = Math.max(Date.now(), order.last + 1);
    order.last = at;
    this.tell(order, {
      ...{ idempotency_key: randomUUID(), task_id: order.taskId, task_type: "create_media_buy", status },
      ...{ operation_id: order.operationId ?? "none", timestamp: new Date(at).toISOString() },
      ...(status === "input-required" && { context_id: `talk-${order.po}` }),
      result: status === order.status ? this.#result(order) : { percentage: 10 },
    });
  }

  #result({ status, buy }: BookedOrder): JsonObject {
    if (status === "completed") return { ...bought, media_buy_id: buy };
    if (status === "input-required") return { reason: "BUDGET_EXCEEDS_LIMIT" };
    return isOver(status) ? { errors: [{ code: "BUDGET_TOO_LOW", message: "more" }] } : {};
  }

  #says(order: BookedOrder): Says {
    const { status, taskId, po } = order;
    const names = { task_id: taskId, context_id: `talk-${po}` };
    const payload = { ...this.#result(order), status, ...(status !== "completed" && names) };
    return { payload, state: status === "submitted" ? "working" : status, taskId };
  }

  #polled({ args }: Heard): Says {
    const order = this.orders.get(String(args.task_id).replace(/^task-/, ""));
    if (order === undefined || this.kind === "mute")
      return failing({ code: "UNSUPPORTED_FEATURE", message: "no such tool", recovery: "correctable" });
    const { taskId, status, po, last } = order;
    const updated = last === 0 ? {} : { updated_at: new Date(last).toISOString() };
    const state = { task_id: taskId, task_type: "create_media_buy", protocol: "media-buy", status, ...updated };
    const talk = status === "input-required" ? { context_id: `talk-${po}` } : {};
    return { payload: { ...state, ...talk, result: this.#result(order) } };
  }
}
