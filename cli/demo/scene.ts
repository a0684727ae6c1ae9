/**
 * What the network does to the demo's webhooks, one thing per event, so that each can be followed in the timeline. All of
 * it is decided from what passes by; neither side knows of it.
 */
import { generateKeyPairSync, randomBytes } from "node:crypto";
import { signWebhookSync } from "../../runtime/signing/index.js";
import type { Timeline } from "./timeline.js";
import type { Passed, Treatment, Verdict } from "./wire.js";

interface Event {
  readonly key: string;
  readonly status: string;
  readonly task: string;
}

/** Reads as much of a body as the timeline shows. */
function eventOf({ body }: Passed): Event {
  const { idempotency_key, status, task_id, notification_type, result } = JSON.parse(body.toString()) as {
    idempotency_key: string;
    status?: string;
    task_id?: string;
    notification_type?: string;
    result?: { notification_type?: string };
  };
  const report = result?.notification_type;
  const what = report === undefined ? (notification_type ?? status ?? "event") : `${report} report`;
  return { key: idempotency_key, status: what, task: task_id ?? "" };
}

/** What is to happen to the first request of an event with this status. */
export type Misfortune = "answer lost" | "held back" | "forged" | "receiver killed";

export interface SceneOptions {
  readonly timeline: Timeline;
  readonly inject: (passed: Passed) => Promise<Verdict>;
  readonly killReceiver: () => Promise<void>;
  /** What sellers were told to post to. */
  readonly publicUrl: () => string;
  /** Draws the fate of each request where none is planned, from 0 to 1; nothing happens without it. */
  readonly weather?: () => number;
}

/** Keeps the books of what was sent, and makes the next misfortune happen. */
export class Scene {
  readonly #seen = new Map<string, { status: string; attempts: number; fate: string }>();
  #plan = new Map<string, Misfortune>();
  /** What is under way; what failed is told once all are waited for. */
  readonly #doing: Promise<{ readonly error: unknown } | undefined>[] = [];
  /** Events held back until another one of their task has gone by, each with that task. */
  readonly #held = new Map<string, string>();
  #calm = false;
  duplicates = 0;
  /** What came by last. */
  passing: Passed | undefined;
  stale = 0;
  forgeries = 0;
  refused = 0;
  /** Forgeries that were not refused, and how they were answered. */
  readonly letIn: string[] = [];

  constructor(readonly options: SceneOptions) {}

  /** Misfortunes by status, each to happen once. */
  plan(misfortunes: Readonly<Record<string, Misfortune>>): void {
    this.#plan = new Map(Object.entries(misfortunes));
  }

  /** No more misfortunes. */
  calm(): void {
    this.#calm = true;
  }

  get sent(): number {
    return this.#seen.size;
  }

  /** @param what a status, or what kind of report, as lines name it */
  saw(what: string): boolean {
    return [...this.#seen.values()].some(({ status }) => status === what);
  }

  /** Events a receiver answered for: applied, or passed over for a newer one. */
  get delivered(): number {
    return [...this.#seen.values()].filter(({ fate }) => fate !== "").length;
  }

  get keys(): readonly string[] {
    return [...this.#seen.keys()];
  }

  /** Keys whose effect must be there: accepted, and not passed over as stale. */
  get accepted(): readonly string[] {
    return [...this.#seen].filter(([, { fate }]) => fate === "accepted").map(([key]) => key);
  }

  /** Everything set in motion has happened. */
  async ended(): Promise<void> {
    for (const failed of await Promise.all(this.#doing)) if (failed !== undefined) throw failed.error;
  }

  #begin(work: Promise<void>): void {
    this.#doing.push(
      work.then(
        () => undefined,
        (error: unknown) => ({ error }),
      ),
    );
  }

  /** @param verdict what a receiver will have said of it; undefined when it reached none */
  treat(passed: Passed, verdict: Promise<Verdict | undefined>): Treatment {
    const { key, status, task } = eventOf(passed);
    this.passing = passed;
    const event = this.#seen.get(key) ?? { status, attempts: 0, fate: "" };
    this.#seen.set(key, event);
    event.attempts += 1;
    const { timeline } = this.options;
    const again = event.attempts > 1 ? `, attempt ${event.attempts}, signed afresh` : ", signed";
    timeline.say("seller", `sends ${status}${again}`);
    if (this.#calm) return "pass";
    if (this.options.weather !== undefined) return this.#treatByWeather(passed, verdict, this.options.weather());
    if (this.#held.has(key)) {
      timeline.say("network", `holds ${status} back once more`);
      return "hold back";
    }
    if (event.attempts > 1) return "pass";
    const misfortune = this.#plan.get(status);
    this.#plan.delete(status);
    switch (misfortune) {
      case undefined:
        return "pass";
      case "answer lost":
        timeline.say("network", `loses the answer to ${status}`);
        return "lose the answer";
      case "held back":
        timeline.say("network", `holds ${status} back: what comes after it goes first`);
        this.#held.set(key, task);
        return "hold back";
      case "forged":
        this.#begin(this.#forge(passed, verdict, status));
        return "pass";
      case "receiver killed":
        timeline.say("machine", `kills the receiver (SIGKILL) as ${status} arrives`);
        // After the forgeries under way: one that reaches nobody is neither refused nor let in.
        this.#begin(Promise.all(this.#doing).then(() => this.options.killReceiver()));
        return "hold back";
    }
  }

  /** Any attempt may meet with it, not only the first. */
  #treatByWeather(passed: Passed, verdict: Promise<Verdict | undefined>, drawn: number): Treatment {
    if (drawn < 0.08) return "lose the answer";
    if (drawn < 0.16) return "hold back";
    if (drawn < 0.2) this.#begin(this.#forge(passed, verdict, "event"));
    return "pass";
  }

  judged(passed: Passed, { text }: Verdict, treatment: Treatment): void {
    const { key, status, task } = eventOf(passed);
    for (const [held, of] of this.#held) if (of === task && held !== key) this.#held.delete(held);
    const said = /"status":"(\w+)"/.exec(text)?.[1] ?? text;
    const event = this.#seen.get(key)!;
    if (said === "duplicate") this.duplicates += 1;
    if (said === "stale") this.stale += 1;
    // A duplicate of what we never saw judged: the receiver died between its commit and its answer.
    if (event.fate === "" && Object.hasOwn(verdictWords, said)) event.fate = said;
    const lost = treatment === "lose the answer" ? " (and the seller never hears of it)" : "";
    this.options.timeline.say("receiver", `${status}`, `${verdictWords[said] ?? said}${lost}`);
  }

  /** Forgeries of what just passed: another body under its signature, a signature of the attacker's, the same request again. */
  async #forge(passed: Passed, verdict: Promise<Verdict | undefined>, status: string): Promise<void> {
    const answered = await verdict;
    const changed = JSON.parse(passed.body.toString()) as Record<string, unknown>;
    changed.message = `pay ${randomBytes(4).toString("hex")} instead`;
    const body = Buffer.from(JSON.stringify(changed));
    await this.#attack(`${status} with another body under the captured signature`, { ...passed, body });
    await this.#attack(
      `${status} signed with a key of its own, under the seller's keyid`,
      this.#resigned(passed, body),
    );
    // What was refused under a wrong clock, or reached nobody, is news when it comes by the attacker's hand.
    if (answered?.status !== 200) return;
    await this.#attack(`the captured ${status} once more, byte for byte`, passed);
  }

  #resigned(passed: Passed, body: Buffer): Passed {
    const { headers, method, target } = passed;
    const input = headers[headers.findIndex((name) => /^signature-input$/i.test(name)) + 1] ?? "";
    const keyid = /keyid="([^"]*)"/.exec(input)?.[1] ?? "";
    const { privateKey } = generateKeyPairSync("ed25519");
    const url = `${this.options.publicUrl()}${target}`;
    const signed = signWebhookSync({ method, url, headers: {}, body }, { key: privateKey, keyid });
    const kept = headers.filter(
      (_, at) => !/^(signature|signature-input|content-digest|content-type)$/i.test(headers[at - (at % 2)]!),
    );
    return { ...passed, body, headers: [...kept, ...Object.entries(signed.headers).flat()] };
  }

  async #attack(what: string, passed: Passed): Promise<void> {
    this.options.timeline.say("attacker", `posts ${what}`);
    // A receiver that is being killed answers nobody, and one without its store or the sender's keys judges nobody.
    const verdict = await this.options.inject(passed).catch(() => undefined);
    if (verdict === undefined || verdict.status >= 500) return;
    const { status, challenge } = verdict;
    this.forgeries += 1;
    if (status === 401) this.refused += 1;
    else this.letIn.push(`${what}: ${status}`);
    const code = /error="?([a-z_]+)/.exec(challenge ?? "")?.[1] ?? "";
    this.options.timeline.say("receiver", "answers the attacker", `${status} ${code}`);
  }
}

const verdictWords: Readonly<Record<string, string>> = {
  accepted: "verified, kept, 200",
  duplicate: "verified, known already: no second effect, 200",
  stale: "verified, older than what is known: not applied, 200",
};
