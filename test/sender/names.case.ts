/** Names that applications give, as long as any may be, on every store. */
import { randomBytes, randomInt } from "node:crypto";
import * as assert from "uvu/assert";
import { codeOf } from "../support/thrown.js";
import { until } from "../support/until.js";
import { wide } from "../support/wide.js";
import { drained, holds, push, type SenderCase, start, suiteOf } from "./sender-suite.js";

const report = { currency: "EUR", media_buy_deliveries: [] };

function lengthCase(of: SenderCase): void {
  const test = suiteOf(of, "names");
  test("names that no index takes are refused at once, and the longest that are taken are delivered", async (context) => {
    const { sender, network } = context;
    const long = (bytes: number): string =>
      randomBytes(bytes)
        .toString("base64url")
        .slice(0, bytes - 2);
    const cjk = (bytes: number): string =>
      Array.from({ length: Math.floor((bytes - 2) / 3) }, () => String.fromCharCode(randomInt(0x4e00, 0x9fa5))).join(
        "",
      );
    for (const bad of ["", "\0", "\ud800", long(1_001), cjk(1_004)]) {
      const events = { events: push };
      for (const refusal of [
        () => sender.tasks.register(start({ principal: bad }), { push }),
        () => sender.channels.open({ mediaBuyId: "mb", principal: bad }, events),
        () => sender.channels.open({ mediaBuyId: bad, principal: "p" }, events),
        () => sender.channels.subscribe("list_change", { resource: bad, principal: "p" }, push),
        () => sender.notifications.sync({ principal: bad }, []),
        () => sender.notifications.sync({ principal: "p", account: bad }, []),
      ])
        assert.is(await codeOf(async () => refusal()), "event_invalid");
    }
    for (const eventType of ["fraud", "impairment"])
      for (const bad of [{ notificationId: wide(1_024) }, { notificationId: "i", eventType: wide(1_024) }]) {
        const told = { eventType, impairment: {}, ...bad };
        assert.is(await codeOf(async () => sender.channels.impairment("mb", told)), "event_invalid");
      }
    const nowhere = `https://x.example ${wide(1_024)}`;
    assert.is(await codeOf(() => sender.outbox.pause(nowhere, { ahead: true })), "name_invalid");
    sender.start();
    for (const name of [long, cjk]) {
      const mediaBuyId = name(1_000);
      assert.equal(await sender.channels.open({ mediaBuyId, principal: name(1_000) }, { events: push }), { ok: true });
      await sender.channels.impairment(mediaBuyId, {
        ...{ notificationId: name(1_000), eventType: "fraud", impairment: {} },
      });
    }
    await until(() => drained(sender));
    assert.is(network.sent.length, 2);
    assert.equal(await sender.outbox.counts(), holds());
  });

  test.run();
}

function soughtCase(of: SenderCase): void {
  const test = suiteOf(of, "names that are sought");
  test("what nothing can be called is not looked for, and finds nothing of another name", async (context) => {
    const { sender } = context;
    // As databases keep each of those below that is no whole text.
    const taskId = "a\ufffd";
    const scope = { principal: taskId };
    await sender.tasks.register(start({ taskId, principal: taskId }), { push });
    assert.equal(await sender.channels.open({ mediaBuyId: taskId, ...scope }, { events: push }), { ok: true });
    const impairment = { notificationId: "i", eventType: "fraud", impairment: {} };
    await sender.channels.impairment(taskId, impairment);
    const working = { status: "working" } as const;
    const report = { currency: "EUR", media_buy_deliveries: [], period: { start: 0, end: 1 } };
    for (const bad of ["a\ud800", "a\0"]) {
      const notice = { event: "x", list_id: "x", resolved_at: "x", signature: "x" };
      const told = { kind: "capabilities.changed", principal: bad, subject: "s", notificationId: "n", body: {} };
      for (const [at, sought] of [
        () => sender.tasks.update(bad, working),
        () => sender.tasks.update("task", working, { principal: bad }),
        () => sender.tasks.updateAll([{ taskId: bad, ...working }]),
        () => sender.tasks.attach(start({ taskId: bad, principal: taskId }), null),
        () => sender.tasks.attached(bad),
        () => sender.channels.impairment(bad, impairment),
        () => sender.channels.adjusted(bad, report),
        () => sender.channels.close(bad),
        () => sender.channels.notify("list_change", bad, notice),
        () => sender.notifications.read({ principal: bad }),
        () => sender.notifications.notify(told as never),
        () => sender.activity({ principal: taskId, subject: bad }),
        () => sender.activity({ principal: bad, subject: taskId }),
      ].entries())
        assert.is(await codeOf(async () => sought()), "event_invalid", `${at} ${JSON.stringify(bad)}`);
    }
    assert.equal(await sender.outbox.counts(), holds({ waiting: 1 }));
    await of.transaction((tx) => {
      // Refused before the database is asked, the transaction goes on.
      assert.throws(() => sender.tasks.update("a\0", working, { tx }));
      return sender.tasks.update(taskId, working, { tx });
    });
    assert.equal(await sender.outbox.counts(), holds({ waiting: 2 }));
  });

  test.run();
}

function operatorCase(of: SenderCase): void {
  const test = suiteOf(of, "names that operators give");
  test("what nothing can be called is refused before a database is asked", async ({ sender: { outbox } }) => {
    for (const bad of ["a\ud800", "a\0"])
      for (const [at, asked] of [
        () => outbox.list({ origin: bad }),
        () => outbox.list({ endpoint: bad }),
        () => outbox.list({ principal: bad }),
        () => outbox.list({ task: bad }),
        () => outbox.drop(1, { endpoint: bad }),
        () => outbox.endpoints({ after: bad }),
        () => outbox.move(bad, "https://new.example/"),
        () => outbox.pause(bad),
        () => outbox.pause(bad, { ahead: true }),
        () => outbox.resume(bad),
      ].entries())
        assert.is(await codeOf(asked), "event_invalid", `${at} ${JSON.stringify(bad)}`);
  });

  test.run();
}

function valueCase(of: SenderCase): void {
  const test = suiteOf(of, "values at their edges");
  test("what is no time, or one that no receiver reads, is refused in words, and nothing is stored of it", async ({
    sender,
  }) => {
    await sender.tasks.register(start(), { push });
    for (const at of [Number.NaN, Number.POSITIVE_INFINITY, 8.64e15, -8.64e15, 1e300, "now" as never]) {
      for (const [n, asked] of [
        () => sender.tasks.register(start({ taskId: "other", at }), { push }),
        () => sender.tasks.update("task-1", { status: "working" }, { at }),
        () => sender.tasks.updateAll([{ taskId: "task-1", status: "working", at }]),
        () => sender.channels.adjusted("mb", { ...report, period: { start: 0, end: at } }),
      ].entries())
        assert.is(await codeOf(async () => asked()), "event_invalid", `${n} ${at}`);
    }
    assert.equal(await sender.outbox.counts(), holds());
    assert.is((await sender.tasks.update("task-1", { status: "working" })).keys.length, 1);
  });

  test("a correction is called what its release has for one, and has a period", async ({ sender }) => {
    const period = { start: 0, end: 1 };
    for (const notificationType of ["final", "scheduled", "delayed", "window_update", "impairment", "x"] as never[])
      assert.is(
        await codeOf(() => sender.channels.adjusted("mb", { ...report, period, notificationType })),
        "event_invalid",
      );
    for (const bad of [undefined, {}, { start: 1 }] as never[])
      assert.is(await codeOf(() => sender.channels.adjusted("mb", { ...report, period: bad })), "event_invalid");
    assert.equal(await sender.channels.adjusted("mb", { ...report, period }), { keys: [] });
  });

  test("limits of any number list as many as there may be, on every engine", async ({ sender }) => {
    await sender.tasks.register(start(), { push });
    await sender.tasks.updateAll(
      Array.from({ length: 1_002 }, () => ({ taskId: "task-1", status: "working" as const })),
    );
    const counts: number[] = [];
    for (const limit of [Number.NaN, -1, 0, 1.5, 5_000, Number.POSITIVE_INFINITY]) {
      counts.push((await sender.outbox.list({ limit })).length);
      assert.is((await sender.outbox.endpoints({ limit })).length, 1);
      assert.equal(await sender.activity({ principal: "buyer-1", subject: "task-1", limit }), []);
    }
    assert.equal(counts, [1_000, 0, 0, 1, 1_000, 1_000]);
  });

  test("there is no event of a number that none can have", async ({ sender }) => {
    const { outbox } = sender;
    for (const id of [Number.NaN, 1.5, -1, 0, 2 ** 53, Number.POSITIVE_INFINITY, "1; --" as never]) {
      assert.is(await outbox.show(id), undefined);
      assert.equal(await Promise.all([outbox.retry(id), outbox.replay(id), outbox.drop(id)]), [false, false, false]);
    }
  });

  test.run();
}

export function namesCase(of: SenderCase): void {
  for (const cases of [lengthCase, soughtCase, operatorCase, valueCase]) cases(of);
}
