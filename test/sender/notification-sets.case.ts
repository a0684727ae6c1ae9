/** Sets of notification configs that take the place of others: all of them or none, and none that did not prove itself. */
import * as assert from "uvu/assert";
import { eventRelease } from "../support/event-release.js";
import { codeOf } from "../support/thrown.js";
import { until } from "../support/until.js";
import { listening, type Reaction, type Sent } from "./fixture.js";
import { AGENT, config, type Open, type Suite, scope, status } from "./notifications.case.js";
import { codeIn, drained, HOOK, reopened, type SenderCase, suiteOf } from "./sender-suite.js";

/** A challenge's answer as somebody else would give it. */
const answering =
  (answer: (challenge: string, body: object) => object) =>
  (sent: Sent): Reaction => {
    const said = sent.body.type === "webhook.challenge" ? answer(sent.body.challenge, sent.body) : {};
    return { body: new TextEncoder().encode(JSON.stringify(said)) };
  };

function replaceCases(test: Suite, open: Open): void {
  test("one that does not prove itself changes nothing of any: those before stay, and are told", async (context) => {
    const { network } = context;
    network.react = listening;
    const sender = await open(context);
    await sender.notifications.sync(scope, [config]);
    const other = { ...config, subscriber_id: "other", url: `${HOOK}/other` };
    const before = await sender.notifications.read(scope);
    network.react = (sent) => (sent.url === other.url ? 302 : listening(sent));
    const moved = { ...config, url: `${HOOK}/moved` };
    const refused = await sender.notifications.sync(scope, [moved, other]);
    assert.equal(refused.ok ? "" : [refused.error.field, refused.error.message], [
      "notification_configs[1].url",
      "the endpoint answered HTTP 302",
    ]);
    assert.equal(await sender.notifications.read(scope), before);
    await sender.notifications.notify(status);
    sender.start();
    await until(() => drained(sender));
    assert.is(network.sent.at(-1)!.url, HOOK);
    network.react = listening;
    assert.ok((await sender.notifications.sync(scope, [moved])).ok);
    assert.is.not((await sender.notifications.read(scope)).version, before.version);
  });
}

function kindCases(test: Suite, open: Open): void {
  test("what is queued of a kind that a config asks for no more is set aside: its new place has not agreed to it", async (context) => {
    const { network } = context;
    network.react = listening;
    const sender = await open(context);
    const agents = { principal: "p" };
    const agent = { ...config, event_types: ["account.status_changed"], all_authorized_accounts: true };
    await sender.notifications.sync(scope, [config]);
    await sender.notifications.sync(agents, [agent]);
    await sender.notifications.notify(status);
    const url = `${HOOK}/moved`;
    const recorded = { kind: "account.change_recorded", account: "acct-1", body: { change_id: "c" } } as const;
    await sender.notifications.sync(scope, [{ ...config, url, event_types: [recorded.kind] }]);
    await sender.notifications.sync(agents, [{ ...agent, url, event_types: ["capabilities.changed"] }]);
    await sender.notifications.notify(recorded);
    sender.start();
    await until(() => drained(sender));
    const events = network.sent.filter(({ body }) => body.type !== "webhook.challenge");
    assert.equal(
      events.map((sent) => [sent.url, sent.body.notification_type]),
      [[url, recorded.kind]],
    );
    const aside = await sender.outbox.list({ state: "refused" });
    assert.equal(
      aside.map(({ error }) => error),
      Array(2).fill("its config does not ask for its kind any more"),
    );
  });
}

function answerCases(test: Suite, open: Open): void {
  test("only the challenge answers a challenge, under either name and with nothing else", async (context) => {
    const { network } = context;
    const sender = await open(context);
    for (const wrong of [
      answering((challenge) => ({ challenge, token: challenge })),
      answering((_, body) => body),
      answering((challenge) => [challenge]),
      answering((challenge) => ({ challenge: `${challenge}0` })),
    ]) {
      network.react = wrong;
      assert.is(codeIn(await sender.notifications.sync(scope, [config])), "VALIDATION_ERROR");
    }
    network.react = answering((token) => ({ token }));
    assert.ok((await sender.notifications.sync(scope, [config])).ok);
  });
}

function raceCases(test: Suite, open: Open): void {
  test("configs that changed while others were proved are left alone; a stranger's are never touched", async (context) => {
    const { network } = context;
    const sender = await open(context);
    network.react = listening;
    await sender.notifications.sync({ ...scope, principal: "stranger" }, [config]);
    const later = { ...config, url: `${HOOK}/later` };
    network.react = async (sent) => {
      if (sent.url === HOOK) assert.ok((await sender.notifications.sync(scope, [later])).ok);
      return listening(sent);
    };
    assert.is(codeIn(await sender.notifications.sync(scope, [config])), "CONFLICT");
    assert.equal(await sender.notifications.list(scope), [{ ...later, active: true }]);
    assert.is((await sender.notifications.list({ ...scope, principal: "stranger" })).length, 1);
    assert.is((await sender.notifications.notify(status)).keys.length, 2);
    network.react = listening;
    const agents = { principal: scope.principal, account: "agents" };
    assert.ok((await sender.notifications.sync(agents, [config])).ok);
    const own = await sender.notifications.read({ principal: scope.principal });
    assert.equal(own, { id: undefined, version: undefined, configs: [] });
  });

  test("what is only looked at is neither asked of anybody nor stored; stored unproved it is told nothing", async (context) => {
    const sender = await open(context);
    const looked = await sender.notifications.prepare(scope, [config], { prove: false });
    assert.is(looked.ok && looked.action, "updated");
    assert.equal([context.network.sent.length, (await sender.notifications.list(scope)).length], [0, 0]);
    if (looked.ok) assert.ok((await looked.store()).ok);
    assert.equal((await sender.notifications.notify(status)).keys, []);
    const fenced = await sender.notifications.prepare(scope, [], { expected: "another" });
    assert.is(codeIn(fenced), "CONFLICT");
  });
}

function futureCases(test: Suite, open: Open): void {
  test("who asked for kinds to come is told of those that only say what to read, as the release that has them says", async (context) => {
    context.network.react = listening;
    const { "account.change_recorded": added, ...older } = eventRelease.facts.events.kinds;
    const events = { ...eventRelease.facts.events, kinds: older };
    const then = { ...eventRelease, version: "3.8.0", facts: { ...eventRelease.facts, events } };
    const before = await open(context, { release: then as never });
    const agent = { ...config, event_types: ["capabilities.changed"], all_authorized_accounts: true };
    const asks = { ...agent, subscriber_id: "asks", include_future_event_types: true };
    const all = [agent, asks, { ...asks, subscriber_id: "one", all_authorized_accounts: false }];
    const taken = await before.notifications.sync({ principal: "p", release: "3.8.0" }, all);
    assert.equal(taken.ok && taken.configs[1], { ...asks, active: true });
    const now = (value: object) => ({
      ...eventRelease,
      facts: {
        ...eventRelease.facts,
        events: { ...events, kinds: { ...older, "account.change_recorded": { ...added, value } } },
      },
    });
    const recorded = { kind: "account.change_recorded", account: "acct-1", body: { change_id: "c" } } as const;
    const releases = [then] as never;
    const telling = await open(context, { release: now(added!.value) as never, releases });
    assert.equal((await telling.notifications.notify(recorded)).keys, [], "what has more to say is asked for by name");
    const sender = await open(context, { release: now({ ...added!.value, invalidation: true }) as never, releases });
    assert.is((await sender.notifications.notify(recorded)).keys.length, 1);
    assert.equal((await sender.notifications.notify(status)).keys, [], "what there was then is asked for by name");
    assert.is(
      await codeOf(async () => sender.notifications.notify({ ...recorded, body: { change_id: 7 } })),
      "event_invalid",
    );
    sender.start();
    await until(() => drained(sender));
    assert.is(context.network.sent.at(-1)!.body.subscriber_id, "asks");
  });
}

export function notificationSetCase(of: SenderCase): void {
  const test = suiteOf(of, "sets of notifications");
  const open: Open = (context, over = {}) =>
    reopened(of, context, { release: eventRelease as never, agentUrl: AGENT, ...over });
  for (const cases of [replaceCases, kindCases, answerCases, raceCases, futureCases]) cases(test, open);
  test.run();
}
