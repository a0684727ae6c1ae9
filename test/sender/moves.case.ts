/** Endpoints that an operator moves: with their registrations, secrets and events, and to nobody who has not agreed. */
import * as assert from "uvu/assert";
import { until } from "../support/until.js";
import { listening as answering } from "./fixture.js";
import { authentication, tell } from "./operations.case.js";
import { account, changed, listening, proving, told } from "./registered-secrets.js";
import { drained, HOOK, HOUR, reopened, type SenderCase, secret, suiteOf } from "./sender-suite.js";

/** Where they go. */
function placeCase(of: SenderCase): void {
  const test = suiteOf(of, "operations, moves");
  test("an endpoint moves with its registrations, their secrets and its events", async (context) => {
    const { sender, network } = context;
    const to = `https://new.example/h?key=${secret}`;
    await tell(sender, "a");
    await tell(sender, "b", { principal: "other" });
    await sender.channels.subscribe("rights", { resource: "r", principal: "buyer-1" }, { url: HOOK, authentication });
    const [mine] = (await sender.outbox.endpoints()).filter(({ principal }) => principal === "buyer-1");
    const moved = await sender.outbox.move(mine!.endpoint, to);
    assert.equal([moved.registrations, moved.events, moved.sealed], [2, 1, 0]);
    sender.start();
    await until(() => drained(sender));
    const rights = { rights_id: "r", brand_id: "b", reason: "x", effective_at: "2026-04-18T14:00:00Z" };
    await sender.channels.notify("rights", "r", rights);
    await until(() => network.sent.length === 3);
    assert.equal(network.sent.map(({ url }) => url).sort(), [HOOK, to, to].sort());
    assert.ok(network.sent.every(({ headers }) => Object.keys(headers).some((name) => /signature/i.test(name))));
    assert.not.ok((await of.bytes()).includes(secret));
    const refused = await sender.outbox.move(mine!.endpoint, "http://127.0.0.1/").catch((error) => error.code);
    assert.is(refused, "registration_invalid");
    assert.equal(await sender.outbox.move("https://nobody.example x.y", to), {
      ...{ endpoint: "https://nobody.example x.y", registrations: 0, events: 0, sealed: 0, unproved: 0 },
    });
  });

  test("registrations whose endpoint was never noted move too", async (context) => {
    const { sender, network } = context;
    await tell(sender, "old");
    await of.rows("update adbind_sent_tasks set push_endpoint = '', a2a_endpoint = '' returning 1");
    const [mine] = await sender.outbox.endpoints();
    const moved = await sender.outbox.move(mine!.endpoint, "https://new.example/h");
    assert.equal([moved.registrations, moved.events], [1, 1]);
    const again = await sender.outbox.move(moved.endpoint, HOOK);
    assert.equal([again.registrations, again.endpoint], [1, mine!.endpoint]);
    sender.start();
    await until(() => drained(sender));
    assert.is(network.sent[0]!.url, HOOK);
  });

  test.run();
}

/** Those who have to agree. */
function provedCase(of: SenderCase): void {
  const test = suiteOf(of, "operations, moves to be proved");
  test("a config that was moved is told nothing where it is now until it has answered there", async (context) => {
    const { network, clock } = context;
    const sender = await reopened(of, context, proving);
    network.react = listening;
    await sender.notifications.sync(account, [told]);
    await sender.notifications.notify(changed);
    const { endpoint } = (await sender.outbox.endpoints())[0]!;
    const to = "https://new.example/dead";
    const moved = await sender.outbox.move(endpoint, to);
    assert.equal([moved.registrations, moved.unproved, moved.events], [1, 1, 1]);
    await sender.notifications.notify(changed);
    assert.is((await sender.notifications.list(account))[0]!.active, false);
    sender.start();
    await until(() => network.sent.some(({ url }) => url === to));
    assert.equal(
      network.sent.filter(({ url, body }) => url === to && body.type !== "webhook.challenge"),
      [],
    );
    assert.is((await sender.outbox.counts()).waiting, 2);
    network.react = answering;
    clock.at += HOUR;
    await until(async () => (await sender.notifications.list(account))[0]!.active);
    clock.at += HOUR;
    await until(() => drained(sender));
    const events = network.sent.filter(({ body }) => body.type === undefined);
    assert.equal(
      events.map(({ url, headers }) => [url, headers.authorization]),
      [
        [to, `Bearer ${told.authentication.credentials}`],
        [to, `Bearer ${told.authentication.credentials}`],
      ],
    );
  });
  test.run();
}

export function moveCase(of: SenderCase): void {
  for (const cases of [placeCase, provedCase]) cases(of);
}
