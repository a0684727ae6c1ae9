/** Webhooks that an agent under test has sent, as a run looks at them. */
import type { JsonObject } from "../contract/index.js";

export interface CaughtWebhook {
  readonly storyboard: string;
  readonly step: string;
  /** As the agent was told, whatever stands before the receiver. */
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Uint8Array;
  /** Undefined where the body is no JSON object. */
  readonly json: JsonObject | undefined;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** What was answered. */
  readonly status: number;
}

export interface WebhookCatcher {
  readonly base: string;
  /** The URL of one step's webhooks, the same each time it is asked for. */
  urlFor(storyboard: string, step: string): string;
  /** What came to the URLs of a storyboard, in the order it came. */
  caught(storyboard: string): readonly CaughtWebhook[];
  /** The first deliveries to a step are refused with a status. */
  refuse(storyboard: string, step: string, count: number, status: number): void;
  close(): Promise<void>;
}
