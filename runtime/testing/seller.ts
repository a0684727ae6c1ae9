/**
 * A seller behind a hostile network: what it sends comes twice, out of order, late, as somebody captured it before, and among
 * forgeries. A receiver that keeps its promises handles each event once all the same.
 */
import { randomBytes } from "node:crypto";
import type { JsonObject } from "../contract/index.js";
import { type FaultContext, type FaultName, faultAnswered, faultNames, testFaults } from "./faults.js";
import { signTestWebhook, type TestWebhook } from "./sign.js";

/** What came back. */
export interface TestAnswer {
  readonly status: number;
  readonly body: string;
}

/** How often the network does what, each as a share from 0 to 1. */
export interface NetworkFaults {
  /** Share of events sent once more, signed anew as a sender's retry is. In [0, 1]. */
  readonly duplicate?: number;
  /** Share of requests sent once more as they are. */
  readonly replay?: number;
  /** Share of events before which a forged one comes, of every fault by turns. */
  readonly forge?: number;
  /** Share of requests that wait until all others were sent. */
  readonly delay?: number;
  /** Events in any order. */
  readonly reorder?: boolean;
}

/** Where a made-up seller delivers, and how bad its network is. */
export interface SellerDoubleOptions extends Omit<FaultContext, "event"> {
  /** Hands a request to the receiver: `receiver.handle`, or by a socket. */
  readonly deliver: (webhook: TestWebhook) => Promise<TestAnswer>;
  readonly network?: NetworkFaults;
  /** In [0, 1); the same numbers make the same network. */
  readonly random?: () => number;
}

/** How an event fared that came under its own key and signature. */
export interface Delivered {
  readonly event: JsonObject;
  /** As the network had it: the first copy, another signed anew, or one that was captured. */
  readonly as: "original" | "duplicate" | "replay";
  readonly answer: TestAnswer;
}

/** What a made-up seller sent, and what the receiver did wrong. */
export interface SellerReport {
  readonly delivered: readonly Delivered[];
  /** Forgeries, and what was wrong with their answers: nothing, where it is undefined. */
  readonly forged: readonly { readonly fault: FaultName; readonly wrong: string | undefined }[];
  /** What a receiver did that none may: an event refused, a forgery or a replay believed. One line each. */
  readonly faults: readonly string[];
}

interface Sending {
  readonly event: JsonObject;
  readonly as: Delivered["as"];
  readonly webhook: TestWebhook;
}

/** Forgeries that every event can be the model of, whatever was sent before; a replay has a share of its own. */
const forgeries = faultNames.filter((name) => name !== "replayed" && name !== "too-large");

/** In any order (Fisher and Yates). */
function shuffled<T>(items: readonly T[], random: () => number): T[] {
  const all = [...items];
  for (let at = all.length - 1; at > 0; at -= 1) {
    const other = Math.floor(random() * (at + 1));
    [all[at], all[other]] = [all[other]!, all[at]!];
  }
  return all;
}

/** Makes a seller that sends through such a network. */
export function createSellerDouble(options: SellerDoubleOptions) {
  const { deliver, url, key, network = {}, random = Math.random, now = Date.now } = options;
  const nonce = options.nonce ?? (() => randomBytes(16).toString("base64url"));
  const { duplicate = 0, replay = 0, forge = 0, delay = 0, reorder = false } = network;
  let turn = 0;

  const signed = (event: JsonObject): TestWebhook => signTestWebhook({ url, event, key, now, nonce: nonce() });

  /** A forgery is never of the event itself: believed, it would take its key. */
  const sendForgery = async (event: JsonObject): Promise<SellerReport["forged"][number]> => {
    const fault = forgeries[turn++ % forgeries.length]!;
    const stolen = { ...event, idempotency_key: `forged-${nonce()}` };
    const [last] = testFaults[fault].make({ url, key, now, nonce, event: stolen }).slice(-1);
    const { status, body } = await deliver(last!);
    return { fault, wrong: faultAnswered(fault, status, body) };
  };

  const plan = (events: readonly JsonObject[]): Sending[] => {
    const first = (reorder ? shuffled(events, random) : events).map(
      (event): Sending => ({ event, as: "original", webhook: signed(event) }),
    );
    const all = first.flatMap((one): Sending[] => [
      one,
      ...(random() < duplicate ? [{ ...one, as: "duplicate" as const, webhook: signed(one.event) }] : []),
      ...(random() < replay ? [{ ...one, as: "replay" as const }] : []),
    ]);
    const late = all.filter(() => random() < delay);
    return [...all.filter((one) => !late.includes(one)), ...late];
  };

  return {
    /** Sends events and says how they fared; each is there at least once, and first under its own signature. */
    async send(events: readonly JsonObject[]): Promise<SellerReport> {
      const delivered: Delivered[] = [];
      const forged: SellerReport["forged"][number][] = [];
      for (const { event, as, webhook } of plan(events)) {
        if (random() < forge) forged.push(await sendForgery(event));
        delivered.push({ event, as, answer: await deliver(webhook) });
      }
      return { delivered, forged, faults: [...refusedEvents(delivered), ...believed(forged)] };
    },
  };
}

/** The copy of a request that comes second is refused, whichever it is; every other is answered 200. */
function refusedEvents(delivered: readonly Delivered[]): string[] {
  const answered = new Map<JsonObject, { good: number; replays: number; answers: number }>();
  for (const { event, as, answer } of delivered) {
    const held = answered.get(event) ?? { good: 0, replays: 0, answers: 0 };
    const good = answer.status >= 200 && answer.status < 300;
    held.answers += 1;
    if (good) held.good += 1;
    if (as === "replay") held.replays += 1;
    answered.set(event, held);
  }
  return [...answered].flatMap(([event, { good, replays, answers }]) => {
    const wanted = answers - replays;
    if (good === wanted) return [];
    const name = String(event.idempotency_key);
    return [`event ${name}: ${good} of ${answers} requests were believed, and not ${wanted}`];
  });
}

const believed = (forged: SellerReport["forged"]): string[] =>
  forged.flatMap(({ fault, wrong }) => (wrong === undefined ? [] : [`${fault}: ${wrong}`]));
