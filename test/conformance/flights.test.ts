/** Suites that are older than the flights of their orders. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import type { JsonObject } from "../../runtime/contract/index.js";
import { runSmall, suiteOf } from "./small-agent.js";

const storyboard = (start: string): string => `
id: own
phases:
  - id: p
    steps:
      - id: refused
        task: create_media_buy
        expect_error: true
        sample_request: {start_time: "2020-01-01T00:00:00Z", end_time: "2020-06-30T23:59:59Z"}
  - id: adjusted
    optional: true
    branch_set: {id: past_start_handled, semantics: any_of}
    steps:
      - id: adjusts
        task: create_media_buy
        sample_request: {start_time: "2019-01-01T00:00:00Z", end_time: "2019-06-30T23:59:59Z"}
  - id: q
    steps:
      - id: plan
        task: sync_plans
        sample_request: {plans: [{plan_id: a, flight: {start: "${start}", end: "2028-02-29T23:59:59Z"}}]}
      - id: order
        task: create_media_buy
        sample_request: {start_time: "${start}", end_time: "2028-02-29T23:59:59Z", packages: [{start_time: asap}]}
      - id: report
        task: get_media_buy_delivery
        sample_request: {start_date: "2026-03-01", end_date: "2026-04-30", event_time: "2026-04-05T00:00:00Z"}
`;

/** What each tool is asked, the order last. */
async function asked(start: string, at: string) {
  const requests: JsonObject[] = [];
  const keep = (args: JsonObject): JsonObject => {
    const { idempotency_key: _, ...rest } = args;
    requests.push(rest);
    return { status: "completed", media_buy_id: "mb-1" };
  };
  const tools = { create_media_buy: keep, sync_plans: keep, get_media_buy_delivery: keep };
  const { report } = await runSmall(suiteOf(storyboard(start)), tools, { now: () => Date.parse(at) });
  return { requests, notices: report.notices };
}

const earlier = { start_time: "2019-01-01T00:00:00Z", end_time: "2019-06-30T23:59:59Z" };
const past = { start_time: "2020-01-01T00:00:00Z", end_time: "2020-06-30T23:59:59Z" };

test("flights that have passed are asked for whole years later, in every request, and the run says so", async () => {
  const { requests, notices } = await asked("2026-04-01T00:00:00Z", "2026-11-29T12:00:00Z");
  assert.equal(requests, [
    past,
    earlier,
    { plans: [{ plan_id: "a", flight: { start: "2027-04-01T00:00:00Z", end: "2029-02-28T23:59:59Z" } }] },
    {
      start_time: "2027-04-01T00:00:00Z",
      end_time: "2029-02-28T23:59:59Z",
      packages: [{ start_time: "asap" }],
    },
    { start_date: "2026-03-01", end_date: "2027-04-30", event_time: "2026-04-05T00:00:00Z" },
  ]);
  assert.ok(
    notices.includes("the suite's orders begin on 2026-04-01, which has passed: flights are asked for 1 year later"),
    notices.join("\n"),
  );
});

test("flights are asked for as published where the first order is yet to begin", async () => {
  const { requests, notices } = await asked("2026-04-01T00:00:00Z", "2026-03-15T12:00:00Z");
  assert.equal(
    requests.map(({ start_time: start }) => start),
    [past.start_time, earlier.start_time, undefined, "2026-04-01T00:00:00Z", undefined],
  );
  assert.not.match(notices.join("\n"), "flights");
});

test("a flight begins a day after the run at the soonest, however many years that takes", async () => {
  for (const [at, start] of [
    ["2026-04-01T00:00:00Z", "2027-04-01T00:00:00Z"],
    ["2030-03-31T12:00:00Z", "2031-04-01T00:00:00Z"],
    ["2030-03-30T12:00:00Z", "2030-04-01T00:00:00Z"],
  ] as const)
    assert.is((await asked("2026-04-01T00:00:00Z", at)).requests[3]?.start_time, start, at);
});

/** What one order and one report are asked with in late November 2026. */
async function askedOf(order: JsonObject, report: JsonObject = {}): Promise<JsonObject[]> {
  const step = (id: string, task: string, request: JsonObject) =>
    `      - {id: ${id}, task: ${task}, sample_request: ${JSON.stringify(request)}}`;
  const steps = [step("order", "create_media_buy", order), step("report", "get_media_buy_delivery", report)];
  const requests: JsonObject[] = [];
  const keep = (args: JsonObject): JsonObject => {
    const { idempotency_key: _, ...rest } = args;
    requests.push(rest);
    return { status: "completed", media_buy_id: "mb-1" };
  };
  await runSmall(
    suiteOf(["id: own", "phases:", "  - id: p", "    steps:", ...steps].join("\n")),
    { create_media_buy: keep, get_media_buy_delivery: keep },
    { now: () => Date.parse("2026-11-29T12:00:00Z") },
  );
  return requests;
}

test("an order that begins at once and has to end before today ends whole years later", async () => {
  const order = { start_time: "asap", end_time: "2026-06-30T23:59:59Z" };
  assert.equal(await askedOf(order, { start_date: "2026-06-01", end_date: "2026-06-30" }), [
    { start_time: "asap", end_time: "2027-06-30T23:59:59Z" },
    { start_date: "2026-06-01", end_date: "2027-06-30" },
  ]);
});

test("a date without a time is that of the order that begins in the course of the day", async () => {
  for (const start of ["2026-04-01T09:00:00Z", "2026-04-01T00:00:00-05:00", "2026-04-01T00:00:00"]) {
    const order = { start_time: start, end_time: "2026-06-30T23:59:59Z" };
    assert.equal(
      (await askedOf(order, { start_date: "2026-04-01", end_date: "2026-06-30" }))[1],
      { start_date: "2027-04-01", end_date: "2027-06-30" },
      start,
    );
  }
});

test("an end that stands for never stays a date", async () => {
  const [order] = await askedOf({ start_time: "2026-04-01T00:00:00Z", end_time: "9999-12-31T23:59:59Z" });
  assert.equal(order, { start_time: "2027-04-01T00:00:00Z", end_time: "9999-12-31T23:59:59Z" });
});

test.run();
