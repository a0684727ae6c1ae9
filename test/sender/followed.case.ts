/** What waits follows its owner, and does not wait for ever, on every store. */
import * as assert from "uvu/assert";
import { endpointOf } from "../../runtime/sender/endpoint-names.js";
import type { Sender } from "../../runtime/sender/index.js";
import { eventRelease } from "../support/event-release.js";
import { codeOf } from "../support/thrown.js";
import { until } from "../support/until.js";
import { listening } from "./fixture.js";
import { AGENT, status } from "./notifications.case.js";
import { drained, HOOK, HOUR, leap, noneOut, push, reopened, type SenderCase, start, suiteOf } from "./sender-suite.js";

const DAY = 24 * HOUR;
const NEW = "https://new.example/h";

/** A media buy's events and a task's are told there. */
async function registerAt({ channels, tasks }: Sender, url: string): Promise<void> {
  await channels.open({ mediaBuyId: "mb", principal: "buyer-1" }, { events: { ...push, url } });
  await tasks.attach(start(), { url });
}

function agentCase(test: ReturnType<typeof suiteOf>, of: SenderCase): typeof test {
  test("what an agent is told of any number of accounts goes where it registers anew, and of others nothing does", async (context) => {
    const sender = await reopened(of, context, { release: eventRelease, agentUrl: AGENT, authorized: () => true });
    context.network.react = listening;
    const asked = { event_types: [status.kind], all_authorized_accounts: true };
    const [mine, other] = ["s", "s2"].map((subscriber_id) => ({
      ...asked,
      subscriber_id,
      url: `${HOOK}/${subscriber_id}`,
    }));
    const agent = { principal: "p" };
    assert.ok((await sender.notifications.sync(agent, [mine!, other!])).ok);
    const accounts = ["a1", "a2", "long".repeat(200)];
    for (const account of accounts) await sender.notifications.notify({ ...status, account });
    for (const { endpoint } of await sender.outbox.endpoints()) await sender.outbox.pause(endpoint);
    context.network.sent.length = 0;
    assert.ok((await sender.notifications.sync(agent, [{ ...mine!, url: NEW }, other!])).ok);
    context.network.sent.length = 0;
    sender.start();
    await until(() => context.network.sent.length === accounts.length);
    await noneOut(sender);
    assert.equal(new Set(context.network.sent.map(({ url }) => url)), new Set([NEW]));
    assert.is((await sender.outbox.counts()).waiting, accounts.length);
  });

  test("where one URL of a media buy cannot be reached its others go on, and what moves takes no other's events along", async (context) => {
    const sender = await reopened(of, context, { reports: () => ({ currency: "EUR", media_buy_deliveries: [] }) });
    const buy = { mediaBuyId: "mb", principal: "buyer-1" };
    const [events, reports] = ["events", "reports"].map((path) => `https://buyer.example/${path}`);
    const reporting = { url: reports!, operation_id: "op-1", reporting_frequency: "hourly" } as const;
    await sender.channels.open(buy, { events: { ...push, url: events! }, reporting });
    await sender.channels.impairment("mb", { notificationId: "i", eventType: "fraud", impairment: {} });
    const [held] = await sender.outbox.endpoints();
    await sender.outbox.pause(held!.endpoint);
    context.clock.at += HOUR;
    await sender.channels.tick();
    await sender.channels.open(buy, { events: { ...push, url: NEW } });
    await sender.outbox.pause(endpointOf({ principal: "buyer-1", url: NEW, operation: "op-1" }));
    sender.start();
    await until(() => context.network.sent.length === 1);
    assert.is(context.network.sent[0]!.url, reports);
    await until(async () => (await sender.outbox.counts()).waiting === 1);
  });
  return test;
}

/** What ended is replayed when what it goes by is not there any more. */
function goneCase(of: SenderCase): void {
  const test = suiteOf(of, "what is replayed");
  test("what is replayed and has no registration any more is set aside with the reason; nothing is sent", async (context) => {
    const { sender } = context;
    context.network.react = () => 500;
    await sender.tasks.register(start({ taskId: "task" }), { push });
    await sender.tasks.update("task", { status: "working" });
    await sender.channels.open({ mediaBuyId: "mb", principal: "buyer-1" }, { events: push });
    await sender.channels.impairment("mb", { notificationId: "i", eventType: "fraud", impairment: {} });
    await of.corrupt("update adbind_jobs set state = 'dead', attempts = 3", async () => undefined);
    for (const table of ["adbind_sent_tasks", "adbind_channels"])
      await of.corrupt(`delete from ${table}`, async () => undefined);
    for (const { id } of await sender.outbox.list({ state: "dead" })) assert.ok(await sender.outbox.replay(id));
    sender.start();
    await until(() => drained(sender));
    assert.equal(context.network.sent, []);
    const why = "its registration is not there any more";
    assert.equal(
      (await sender.outbox.list()).map(({ subject, state, error, attempts }) => [subject, state, error, attempts]),
      ["task", "mb"].map((subject) => [subject, "refused", why, 3]),
    );
  });

  test.run();
}

function underWayCase(test: ReturnType<typeof suiteOf>): typeof test {
  test("what is under way to a place that is paused then is tried next where its owner has registered anew", async (context) => {
    const { sender, network } = context;
    await registerAt(sender, HOOK);
    await sender.tasks.update("task-1", { status: "working" });
    await sender.channels.impairment("mb", { notificationId: "i", eventType: "fraud", impairment: {} });
    const { promise: answered, resolve: answer } = Promise.withResolvers<number>();
    network.react = ({ url }) => (url === NEW ? 200 : answered);
    sender.start();
    await until(() => network.sent.length === 2);
    await registerAt(sender, NEW);
    await sender.outbox.pause(endpointOf({ principal: "buyer-1", url: HOOK }), { ahead: true });
    answer(500);
    await leap(context, HOUR);
    await until(() => drained(sender));
    assert.equal(
      network.sent.map(({ url }) => url),
      [HOOK, HOOK, NEW, NEW],
    );
  });
  return test;
}

function placeCase(of: SenderCase): void {
  const test = underWayCase(agentCase(suiteOf(of, "what follows its owner"), of));
  test("what is queued for a place that is paused goes where its owner registers anew", async (context) => {
    const { sender, network } = context;
    await registerAt(sender, HOOK);
    await sender.tasks.update("task-1", { status: "working" });
    await sender.channels.impairment("mb", { notificationId: "i", eventType: "fraud", impairment: {} });
    for (const { endpoint } of await sender.outbox.endpoints()) await sender.outbox.pause(endpoint);
    sender.start();
    await registerAt(sender, NEW);
    await until(() => drained(sender));
    assert.equal(
      network.sent.map(({ url }) => url),
      [NEW, NEW],
    );
  });

  test("limits that cannot be had make no attempt, and what was attempted once does not wait for ever", async (context) => {
    let fails = true;
    const sender = await reopened(of, context, {
      limits: () => {
        if (fails) throw new Error("ours");
        return undefined;
      },
    });
    await sender.tasks.register(start(), { push });
    await sender.tasks.update("task-1", { status: "working" });
    sender.start();
    const isLater = async (): Promise<boolean> => ((await sender.outbox.list())[0]!.due ?? 0) > context.clock.at;
    await until(isLater, "it is looked at later");
    await noneOut(sender);
    const [waiting] = await sender.outbox.list();
    assert.equal([waiting!.attempts, context.network.sent.length], [0, 0]);
    fails = false;
    context.network.react = () => ({ status: 500 });
    context.clock.at += HOUR;
    await until(async () => (await sender.outbox.list())[0]!.attempts === 1);
    fails = true;
    await noneOut(sender);
    context.clock.at += 8 * DAY;
    (await reopened(of, context, {})).start();
    await until(async () => (await context.sender.outbox.counts()).dead === 1);
  });

  test("a move to where an operation is named moves all that is registered, or nothing", async ({ sender }) => {
    await sender.tasks.register(start(), { push });
    await sender.channels.subscribe("list_change", { resource: "l", principal: "buyer-1" }, { url: HOOK });
    await sender.tasks.update("task-1", { status: "working" });
    const { endpoint } = (await sender.outbox.endpoints())[0]!;
    const places = (): Promise<unknown> => of.rows("select push_endpoint from adbind_sent_tasks");
    const before = await places();
    const move = () => sender.outbox.move(endpoint, "https://new.example/{operation_id}");
    assert.is(await codeOf(move), "registration_invalid");
    assert.equal(await places(), before);
  });
  test.run();
}

export function followedCase(of: SenderCase): void {
  for (const cases of [goneCase, placeCase]) cases(of);
}
