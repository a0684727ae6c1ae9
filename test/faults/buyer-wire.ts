/** Webhooks between sellers and buyers that are killed: each is sent until it is taken, some twice, and a stranger sends some too. */
import type { KeyObject } from "node:crypto";
import type { Agent } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { JsonObject } from "../../runtime/contract/index.js";
import { type SellerKey, sellerKey } from "../support/receiver.js";
import type { BookedOrder } from "./buyer-books.js";
import { attempt, type Victim } from "./receiver-fleet.js";

interface WireEnds {
  readonly agent: Agent;
  victims(): readonly Victim[];
}

/** Shares of webhooks that come twice, and that a stranger adds one to. */
const TWICE = 0.2;
const FORGED = 0.2;

export class BuyerWebhookWire {
  /** Events that a receiver has said it takes: key, and what it was. */
  readonly taken = new Map<string, string>();
  readonly faults: string[] = [];
  sent = 0;
  forged = 0;
  /** Not taken yet. */
  open = 0;
  readonly #stranger: SellerKey = sellerKey("key-1");
  /** Of each order, what was sent last: they come in their order. */
  readonly #last = new Map<string, Promise<void>>();

  constructor(private readonly ends: WireEnds) {}

  readonly send = (order: BookedOrder, event: JsonObject, { privateKey }: SellerKey): void => {
    this.open += 1;
    const before = this.#last.get(order.po) ?? Promise.resolve();
    const sending = before
      .then(() => this.#send(order, event, privateKey as KeyObject))
      .catch((error: Error) => void this.faults.push(`a webhook of ${order.po}: ${error.message}`));
    this.#last.set(order.po, sending);
  };

  async #send(order: BookedOrder, event: JsonObject, key: KeyObject): Promise<void> {
    const route = `/hooks/${order.seller}`;
    if (Math.random() < FORGED) await this.#forge(route, event);
    const body = Buffer.from(JSON.stringify(event));
    const times = Math.random() < TWICE ? 2 : 1;
    for (let time = 0; time < times; time++) {
      for (;;) {
        const [status, text] = await this.#attempt(route, body, key);
        if (status === 200) {
          // A duplicate may be of an end that a poll has told of.
          if (text.includes("accepted"))
            this.taken.set(String(event.idempotency_key), `${event.status} of ${order.po} (${text})`);
          break;
        }
        await sleep(20 + Math.random() * 30);
      }
    }
    this.open -= 1;
  }

  /** What the stranger says would be the end of the order, and another buy. */
  async #forge(route: string, event: JsonObject): Promise<void> {
    const result = { media_buy_id: "forged", confirmed_at: null, revision: 1, packages: [] };
    const forged = { ...event, idempotency_key: crypto.randomUUID(), status: "completed", result };
    const [status] = await this.#attempt(
      route,
      Buffer.from(JSON.stringify(forged)),
      this.#stranger.privateKey as KeyObject,
    );
    this.forged += 1;
    if (status >= 200 && status < 300) this.faults.push(`a forged webhook was answered ${status}`);
  }

  #attempt(route: string, body: Uint8Array, key: KeyObject): Promise<[number, string]> {
    this.sent += 1;
    return attempt({ victims: this.ends.victims(), agent: this.ends.agent }, route, body, key);
  }
}
