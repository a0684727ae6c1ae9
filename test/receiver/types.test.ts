/** What does not compile: handlers that miss an arm, misread its data, or name no tool. `tsc` is the judge. */
import type Database from "better-sqlite3";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { release } from "../../generated/3.1.0/index.js";
import type { ArmsOf, Handlers } from "../../runtime/contract/index.js";
import {
  type ArmHandlers,
  createReceiver,
  type EventOutcome,
  type ReceiverHandlers,
} from "../../runtime/receiver/index.js";
import { openStore } from "../../runtime/store/index.js";

type Tools = (typeof release)["tools"];
type Buy = ArmsOf<Tools["create_media_buy"]>;

const arms: ArmHandlers<Buy, Database.Database> = {
  submitted: () => undefined,
  working: (data) => void (data.percentage satisfies number | undefined),
  "input-required": async () => undefined,
  completed: (_data, answer, delivery) => (db) => void db.prepare(`${answer.status} ${delivery.id}`),
  failed: (data) => void data.errors[0]?.code,
  canceled: () => undefined,
  rejected: () => undefined,
};

export const whole: Whole = {
  tools: { create_media_buy: arms },
  fallback: () => undefined,
};

/** The contract's own handlers fit: one object may serve answers and webhooks. */
export const contracted = (
  handlers: Handlers<Buy, EventOutcome<Database.Database>>,
): ArmHandlers<Buy, Database.Database> => handlers;

/** What `openStore` gives is taken as it is, whichever engine it turns out to be of. */
export const onAnyStore = async (url: string) =>
  createReceiver({
    store: await openStore(url),
    release,
    publicUrl: "https://hooks.example",
    senders: {},
    handlers: { fallback: (delivery) => void delivery.kind },
  });

type Whole = ReceiverHandlers<Tools, Database.Database>;
const fallback = () => undefined;
const { rejected: _, ...missing } = arms;
// @ts-expect-error an arm is missing
export const incomplete: Whole = { fallback, tools: { create_media_buy: missing } };
// @ts-expect-error no such tool
export const unknown: Whole = { fallback, tools: { create_media_bye: arms } };
// @ts-expect-error the fallback is missing
export const unhandled: Whole = { tools: {} };
// @ts-expect-error the arm's data is no string
export const misread: ArmHandlers<Buy, Database.Database> = { ...arms, completed: (data: string) => void data };

test("the handlers that compile name tools of the release", () => {
  assert.ok(Object.hasOwn(release.tools, "create_media_buy"));
  assert.equal(Object.keys(arms).sort(), Object.keys(release.tools.create_media_buy.arms).sort());
});

test.run();
