/** Functions of the application that hang, are slow or throw: each holds up what needs its answer, on every store. */
import * as assert from "uvu/assert";
import type { ReportRequest, SecretKeys, Sender, SenderOptions } from "../../runtime/sender/index.js";
import { codeOf } from "../support/thrown.js";
import { turns, until } from "../support/until.js";
import { NOW, secretKeys } from "./fixture.js";
import { AGENT, account, changed, hmac, listening, proving } from "./registered-secrets.js";
import {
  type Context,
  HOOK,
  HOUR,
  noneOut,
  ownOptions,
  push,
  reopened,
  type SenderCase,
  start,
  suiteOf,
} from "./sender-suite.js";

const data = { currency: "EUR", media_buy_deliveries: [] };
const reporting = { url: HOOK, operation_id: "op", reporting_frequency: "hourly" } as const;
const never = new Promise<never>(() => undefined);
const buys = (count: number): string[] => Array.from({ length: count }, (_, at) => `mb-${at}`);

/** What is told of faults. */
function told() {
  const said: string[] = [];
  const error = ({ err }: { err: Error }): void => void said.push(err.message);
  const quiet = () => undefined;
  const logger = { error, warn: quiet, info: quiet, debug: quiet } as unknown as NonNullable<SenderOptions["logger"]>;
  return { said, logger };
}

async function opened(sender: Sender, ids: readonly string[]): Promise<void> {
  for (const mediaBuyId of ids)
    await sender.channels.open({ mediaBuyId, principal: "buyer-1" }, { reporting, events: push });
}

const reportsIn = ({ network }: Context): string[] =>
  network.sent.flatMap(({ body }) => (body.task_type === "media_buy_delivery" ? [body.task_id] : [])).sort();

function hangingCase(of: SenderCase): void {
  const test = suiteOf(of, "callbacks, reports that hang");
  test("a source of reports that hangs for one buy holds up no other, no impairment and no stop", async (context) => {
    let asked = 0;
    const reports = ({ mediaBuyId }: ReportRequest) => {
      if (mediaBuyId !== "mb-0") return data;
      asked += 1;
      return never;
    };
    const sender = await reopened(of, context, { reports });
    await opened(sender, ["mb-0", "mb-1"]);
    await sender.channels.impairment("mb-0", { notificationId: "n-1", impairment: {} });
    context.clock.at = NOW + HOUR;
    sender.start();
    await until(() => context.network.sent.length === 2 && asked === 1);
    assert.equal(reportsIn(context), ["mb-1.report.1"]);
    // Due while the source hangs.
    await sender.channels.impairment("mb-1", { notificationId: "n-2", impairment: {} });
    await noneOut(sender);
    context.clock.at += 5 * 60_000;
    await until(() => context.network.sent.some(({ body }) => body.notification_id === "n-2"));
    await sender.stop();
    assert.is(asked, 1);
    const [row] = await of.rows("select next_fire from adbind_channels where resource = 'mb-0' and kind = 'reporting'");
    assert.is(Number(row!.next_fire), NOW + HOUR, "it is due as it was, for whoever comes next");
  });

  test("a report whose source is late is told of, and asked for again in a minute", async (context) => {
    const { said, logger } = told();
    let asked = 0;
    const reports = () => (++asked === 1 ? never : data);
    const sender = await reopened(of, context, { reports, logger, callbackTimeoutMs: 20 });
    await opened(sender, ["mb-0"]);
    context.clock.at = NOW + HOUR;
    sender.start();
    await until(() => said.some((one) => one.includes("reports, for mb-0, did not answer in 20 ms")));
    context.clock.at += 60_000;
    await until(() => context.network.sent.length === 1);
    assert.equal([reportsIn(context), asked], [["mb-0.report.1"], 2]);
  });

  test.run();
}

function askedCase(of: SenderCase): void {
  const test = suiteOf(of, "callbacks, reports at a time");
  test("reports are asked for several at a time, and not all at once", async (context) => {
    let [now, most, answered] = [0, 0, 0];
    const waiting: (() => void)[] = [];
    const reports = async () => {
      now += 1;
      most = Math.max(most, now);
      await new Promise<void>((resolve) => void waiting.push(resolve));
      now -= 1;
      answered += 1;
      return data;
    };
    const sender = await reopened(of, context, { reports });
    await opened(sender, buys(20));
    context.clock.at = NOW + HOUR;
    const ticked = sender.channels.tick();
    await until(() => now === 16);
    const answering = until(() => {
      for (const answer of waiting.splice(0)) answer();
      return answered === 20;
    });
    await Promise.all([ticked, answering]);
    assert.equal([most, (await sender.outbox.list()).length], [16, 20]);
  });
  test.run();
}

function accountCase(of: SenderCase): void {
  const test = suiteOf(of, "callbacks, authorized");
  test("an event of whose account nothing is said in time waits without an attempt, and others go on", async (context) => {
    const { said, logger } = told();
    context.network.react = listening;
    let hangs = true;
    const authorized = () => (hangs ? never : true);
    const sender = await reopened(of, context, { ...proving, authorized, logger, callbackTimeoutMs: 20 });
    const config = { subscriber_id: "a", url: HOOK, event_types: ["capabilities.changed", "account.status_changed"] };
    const all = { ...config, all_authorized_accounts: true };
    assert.ok((await sender.notifications.sync({ principal: account.principal }, [all])).ok);
    await sender.notifications.notify(changed);
    await sender.notifications.notify({ kind: "capabilities.changed", body: { agent_url: AGENT } });
    sender.start();
    await until(() => context.network.sent.length === 2 && said.includes("authorized did not answer in 20 ms"));
    await noneOut(sender);
    const [waiting, another] = await sender.outbox.list();
    assert.equal([waiting!.state, waiting!.attempts, another], ["waiting", 0, undefined]);
    hangs = false;
    context.clock.at += 5_000;
    await until(() => context.network.sent.length === 3);
  });
  test.run();
}

const KEY2 = new Uint8Array(32).fill(9);
const bothKeys: SecretKeys = { current: "k2", keys: { ...secretKeys.keys, k2: KEY2 } };
const newKey: SecretKeys = { current: "k2", keys: { k2: KEY2 } };

const tell = async ({ tasks }: Sender, taskId: string, secret: boolean) => {
  await tasks.register(start({ taskId }), { push: { url: HOOK, ...(secret && { authentication: hmac(taskId) }) } });
  await tasks.update(taskId, { status: "working" });
};

const tasksIn = ({ network }: Context): string[] => network.sent.map(({ body }) => body.task_id).sort();

function keyCase(of: SenderCase): void {
  const test = suiteOf(of, "callbacks, secrets");
  for (const [what, fails, sealBodies] of [
    ["throws", () => Promise.reject(new Error("vault")), false],
    ["hangs", () => never, true],
  ] as const)
    test(`where the source of keys ${what} only ${sealBodies ? "bodies" : "secrets"} under keys that are not here wait`, async (context) => {
      await tell(await reopened(of, context, { secrets: newKey, sealBodies }), "new", !sealBodies);
      await tell(await reopened(of, context, { sealBodies }), "old", !sealBodies);
      const { said, logger } = told();
      let away = false;
      let back = secretKeys;
      const secrets = () => (away ? fails() : back);
      const sender = await reopened(of, context, { secrets, logger, callbackTimeoutMs: 20 });
      away = true;
      sender.start();
      await until(() => said.length > 0 && context.network.sent.length === 1);
      await noneOut(sender);
      assert.equal(tasksIn(context), ["old"]);
      const [waiting, another] = await sender.outbox.list();
      assert.equal([waiting!.state, waiting!.attempts, another], ["waiting", 0, undefined]);
      [away, back] = [false, bothKeys];
      // Small steps: they end no lease. Keys are fetched again some seconds later.
      await until(() => {
        context.clock.at += 50;
        return context.network.sent.length === 2;
      });
      assert.equal(tasksIn(context), ["new", "old"]);
    });

  test("a source of keys that hangs from the start opens no sender", async (context) => {
    const opening = reopened(of, context, { secrets: () => never, callbackTimeoutMs: 20 });
    const fault = await opening.catch((error: Error) => error.message);
    assert.match(String(fault), "the source of secret keys did not answer in 20 ms");
    assert.is(await codeOf(() => of.open({ callbackTimeoutMs: 0 } as never)), "sender_option_invalid");
  });
  test.run();
}

function fetchCase(of: SenderCase): void {
  const test = suiteOf(of, "callbacks, fetch");
  test("a fetch that never answers is a timeout, and its event waits for the next attempt", async (context) => {
    const limits = () => ({ timeoutMs: 20 });
    const sender = await reopened(of, context, { fetch: () => never, limits });
    await tell(sender, "a", false);
    sender.start();
    await until(async () => (await sender.outbox.list())[0]!.attempts === 1);
    assert.match((await sender.outbox.list())[0]!.error!, "total_timeout");
  });
  test.run();
}

/** Something of the application's that an attempt waits for. */
interface Hanging {
  readonly what: string;
  hang(ask: () => Promise<never>): Partial<SenderOptions>;
}

const hanging: readonly Hanging[] = [
  {
    what: "a signer",
    hang: (ask) => ({ signer: undefined as never, signerFor: ask, signerTimeoutMs: 30_000 }),
  },
  { what: "a fetch", hang: (ask) => ({ fetch: ask, limits: () => ({ timeoutMs: 30_000 }) }) },
  { what: "authorized", hang: (ask) => ({ authorized: ask, callbackTimeoutMs: 600_000 }) },
];

/** Milliseconds. */
const SHORT = 50;
/** What a stop that does not wait takes at most, on a machine with other work, in milliseconds. */
const SOON = 10_000;

function stopCase(of: SenderCase): void {
  const test = suiteOf(of, "callbacks, a stop");
  const config = { subscriber_id: "a", url: HOOK, event_types: ["account.status_changed"] };
  for (const { what, hang } of hanging)
    test(`${what} that hangs is waited for as long as a stop is told; its event is left to its lease`, async (context) => {
      context.network.react = listening;
      const first = await reopened(of, context, proving);
      const all = { ...config, all_authorized_accounts: true };
      assert.ok((await first.notifications.sync({ principal: account.principal }, [all])).ok);
      await first.notifications.notify(changed);
      const late = Promise.withResolvers<never>();
      let asked = false;
      const ask = (): Promise<never> => {
        asked = true;
        return late.promise;
      };
      const sender = await reopened(of, context, { ...proving, ...hang(ask) });
      sender.start();
      await until(() => asked);
      const began = performance.now();
      assert.is(await sender.stop({ withinMs: SHORT }), 1);
      assert.ok(performance.now() - began < SOON, `${performance.now() - began} ms`);
      const before = context.network.sent.length;
      // Its answer comes when nobody has a use for it.
      late.reject(new Error("late"));
      await turns();
      const next = await of.open(ownOptions(of, context, proving));
      const [event, another] = await next.outbox.list();
      assert.equal([event!.state, event!.attempts, another], ["out", 0, undefined]);
      assert.is(context.network.sent.length, before);
      context.sender = next;
      next.start();
      context.clock.at += 11_000;
      await until(() => context.network.sent.length === before + 1, "it is sent when its lease is over");
    });
  test.run();
}

export function callbackCase(of: SenderCase): void {
  for (const cases of [hangingCase, askedCase, accountCase, keyCase, fetchCase, stopCase]) cases(of);
}
