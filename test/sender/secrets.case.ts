/** Secrets of registrations: never at rest in clear, used to the last event, and erased after it; on every store. */
import { inspect } from "node:util";
import * as assert from "uvu/assert";
import type { SecretKeys, Sender } from "../../runtime/sender/index.js";
import { createKeyring } from "../../runtime/sender/sealing.js";
import { until } from "../support/until.js";
import { secretKeys } from "./fixture.js";
import { keylessCase } from "./keyless.case.js";
import { movedSecretCase } from "./moved-secrets.case.js";
import {
  AGENT,
  account,
  bearer,
  changed,
  countSecrets,
  hmac,
  listening,
  proving,
  secretOf,
  standard,
  told,
} from "./registered-secrets.js";
import { codeIn, drained, HOOK, HOUR, holds, reopened, type SenderCase, start, suiteOf } from "./sender-suite.js";

const KEY2 = new Uint8Array(32).fill(9);
const bothKeys: SecretKeys = { current: "k2", keys: { ...secretKeys.keys, k2: KEY2 } };
const newKey: SecretKeys = { current: "k2", keys: { k2: KEY2 } };

const notice = { event: "property_list_changed", list_id: "l", resolved_at: "2026-04-18T14:00:00Z", signature: "s" };

const reports = () => ({ currency: "EUR", media_buy_deliveries: [] });
const inUrls = ["query", "other", "path", "place"];
const inBodies = ["native", "echo", "events"];
const inHeaders = ["attached", "bearer", "account"];
const keyed = ["hmac", "reporting", "list", "agent", "standard"];
const names = [...inUrls, ...inBodies, ...inHeaders, ...keyed];
const a2a = { url: `https://buyer.example/dead/${secretOf("path")}`, token: secretOf("native") };

/** A secret of every kind, in every place one can be given. */
async function registerAll({ tasks, channels, notifications }: Sender): Promise<void> {
  const url = `${HOOK}?key=${secretOf("query")}`;
  const push = { url, operation_id: "op", token: secretOf("echo"), authentication: hmac("hmac") };
  const token = secretOf("events");
  const list = (principal: string) => ({ resource: "l", principal });
  const taken = [
    await tasks.register(start(), { push, a2a }),
    await tasks.attach(start(), { ...a2a, authentication: bearer("attached") }),
    await channels.open(
      { mediaBuyId: "mb", principal: "buyer-1" },
      {
        events: { url: HOOK, operation_id: "op", token, authentication: bearer("bearer") },
        reporting: { url: HOOK, operation_id: "op", reporting_frequency: "monthly", authentication: hmac("reporting") },
      },
    ),
    await channels.subscribe("list_change", list("p"), { url: `https://buyer.example/h?other=${secretOf("other")}` }),
    await channels.subscribe("list_change", list("q"), { url: HOOK, authentication: hmac("list") }),
    await channels.subscribe("list_change", list("r"), { url: HOOK, authentication: standard("standard") }),
    await notifications.sync(account, [told]),
    await notifications.sync({ principal: "p" }, [
      { subscriber_id: "a", url: HOOK, event_types: ["capabilities.changed"], authentication: hmac("agent") },
    ]),
  ];
  assert.equal(
    taken.map(codeIn),
    taken.map(() => ""),
  );
}

/** Whatever was registered, in whatever way. */
function bytesCase(of: SenderCase): void {
  const test = suiteOf(of, "secrets at rest");
  test("no secret that was registered is in the bytes of the store, and all reach their receivers", async (context) => {
    const sender = await reopened(of, context, { reports, ...proving });
    const { network } = context;
    network.react = listening;
    sender.start();
    await registerAll(sender);
    await sender.tasks.update("task-1", { status: "working" });
    await sender.channels.impairment("mb", { notificationId: "n", eventType: "fraud", impairment: { a: 1 } });
    await sender.channels.adjusted("mb", { ...reports(), period: { start: 0, end: 1 } });
    await sender.channels.notify("list_change", "l", notice);
    await sender.notifications.notify(changed);
    await sender.notifications.notify({ kind: "capabilities.changed", body: { agent_url: AGENT } });
    await until(() => network.sent.length >= 11);
    const sent = JSON.stringify(network.sent.map(({ url, headers, body }) => [url, headers, body]));
    const missing = names.filter((name) => !keyed.includes(name) && !sent.includes(secretOf(name)));
    assert.equal(missing, [], "they did not arrive");
    const bytes = await of.bytes();
    const encodings = ["utf8", "hex", "base64"] as const;
    const forms = names.flatMap((name) => encodings.map((form) => Buffer.from(secretOf(name)).toString(form)));
    assert.equal(
      forms.filter((form) => bytes.includes(form)),
      [],
    );
    assert.ok(bytes.includes("buyer.example"), "what was searched is the store");
    assert.equal(await sender.tasks.attached("task-1"), { ...a2a, authentication: bearer("attached") });
    const { schemes } = told.authentication;
    assert.equal(await sender.notifications.list(account), [{ ...told, authentication: { schemes }, active: true }]);
  });

  test.run();
}

/** Who is told of what went wrong. */
function toldCase(of: SenderCase): void {
  const test = suiteOf(of, "secrets, told");
  test("no secret is in a log, a refusal, an activity or what operators see, whatever goes wrong", async (context) => {
    const logged: unknown[] = [];
    const note = (...given: unknown[]) => void logged.push(inspect(given, { depth: 12 }));
    const logger = { warn: note, error: note, info: note, debug: note } as never;
    const faults: unknown[] = [];
    const sender = await reopened(of, context, { reports, ...proving, logger, onDeprecated: note });
    const { network, clock } = context;
    network.react = listening;
    await registerAll(sender);
    network.react = ({ headers, bytes }) => ({
      status: 500,
      body: Buffer.from(JSON.stringify([headers, String(bytes)])),
    });
    faults.push(await sender.notifications.sync(account, [{ ...told, url: `${told.url}0` }]));
    faults.push(
      await sender.tasks.register(start({ taskId: "t2" }), { push: { ...a2a, authentication: standard("x y") } }),
    );
    await sender.tasks.update("task-1", { status: "working" });
    await sender.channels.notify("list_change", "l", notice);
    await sender.notifications.notify(changed);
    sender.start();
    await until(async () => (await sender.outbox.list()).every(({ attempts }) => attempts > 0));
    clock.at += 25 * HOUR;
    await until(async () => (await sender.outbox.counts()).waiting === 0);
    const shown = [];
    for (const { id } of await sender.outbox.list()) shown.push(await sender.outbox.show(id));
    const seen = JSON.stringify([faults, shown, await sender.outbox.endpoints(), await sender.health(), logged]);
    const activity = await sender.activity({ principal: "buyer-1", subject: "task-1" });
    assert.ok(shown.length >= 6 && activity.length > 0 && logged.length > 0, "there was something to tell");
    for (const name of [...names, "x y"])
      assert.not((seen + JSON.stringify(activity)).includes(secretOf(name)), `${name} was told`);
  });
  test.run();
}

/** What is not taken, and what is not kept. */
function lifeCase(of: SenderCase): void {
  const test = suiteOf(of, "secrets, how long");
  test("without a key what carries a secret is refused, and what carries none is taken", async (context) => {
    const sender = await reopened(of, context, { secrets: undefined as never });
    const refused = [
      await sender.tasks.register(start(), { push: { url: HOOK, authentication: hmac("h") } }),
      await sender.tasks.register(start(), { push: { url: HOOK, token: "t".repeat(16) } }),
      await sender.tasks.register(start(), { a2a: { url: HOOK, token: "t" } }),
    ];
    assert.equal(
      refused.map((one) => (one.ok ? "" : one.error.field)),
      [
        "push_notification_config.authentication",
        "push_notification_config.token",
        "configuration.pushNotificationConfig.token",
      ],
    );
    // What a URL may hide is no word of the buyer's that it is a secret: it keeps nobody out.
    for (const url of [HOOK, `${HOOK}?operation=1`, `${HOOK}/7d9f0c52b7a14f6c9e3a`])
      assert.equal(await sender.tasks.register(start({ taskId: url }), { push: { url } }), {
        ok: true,
        registered: true,
      });
    assert.is(await countSecrets(of), 0);
  });

  test("what is over is erased when its last event was delivered, and not before", async (context) => {
    const { sender, network, clock } = context;
    let away = true;
    network.react = () => (away ? 503 : 200);
    sender.start();
    await sender.tasks.register(start(), { push: { url: HOOK, authentication: hmac("task") } });
    await sender.tasks.register(start({ taskId: "live" }), { push: { url: HOOK, authentication: hmac("live") } });
    await sender.tasks.update("task-1", { status: "failed" });
    await sender.tasks.update("live", { status: "working" });
    await sender.channels.subscribe("rights", { resource: "r", principal: "p" }, { url: HOOK, token: secretOf("r") });
    await until(async () => (await sender.outbox.list()).every(({ attempts }) => attempts > 0));
    assert.is(await countSecrets(of), 3);
    away = false;
    clock.at += 60_000;
    await until(() => drained(sender));
    await until(async () => (await countSecrets(of)) === 2);
    await sender.channels.subscribe("rights", { resource: "r", principal: "p" }, null);
    assert.equal(
      (await of.rows("select registration from adbind_sender_secrets")).map((row) => row.registration),
      ['["push","live"]'],
    );
  });
  test.run();
}

/** A task with an event. */
const register = async ({ sender }: Pick<Parameters<typeof reopened>[1], "sender">, taskId: string) => {
  await sender.tasks.register(start({ taskId }), { push: { url: HOOK, authentication: hmac(taskId) } });
  await sender.tasks.update(taskId, { status: "working" });
};

/** Keys that were rotated, or lost, and rows that were changed. */
function keyCase(of: SenderCase): void {
  const test = suiteOf(of, "keys of secrets");
  test("a lost key sets its rows aside with the reason, others go on, and it may come back", async (context) => {
    await register(context, "old");
    const sender = await reopened(of, context, { secrets: newKey });
    await register(context, "new");
    sender.start();
    await until(() => drained(sender));
    const [aside] = await sender.outbox.list();
    assert.equal([aside!.state, aside!.subject], ["refused", "old"]);
    assert.match(aside!.error!, "under the key k1, which is not here");
    assert.equal(
      context.network.sent.map(({ body }) => body.task_id),
      ["new"],
    );
    const back = await reopened(of, context, { secrets: bothKeys });
    back.start();
    assert.ok(await back.outbox.replay(aside!.id));
    await until(() => context.network.sent.length === 2);
  });

  test("a key that a running sender does not know is fetched, and rotation leaves nothing under the old one", async (context) => {
    for (const taskId of ["a", "b", "c"]) await register(context, taskId);
    let asked = 0;
    const secrets = () => {
      asked += 1;
      return bothKeys;
    };
    const sender = await reopened(of, context, { secrets });
    await register(context, "d");
    const came = await sender.resealSecrets();
    assert.equal(came, { resealed: 3, current: 1, lost: 0, foreign: 0 });
    assert.equal(await sender.resealSecrets(), { resealed: 0, current: 4, lost: 0, foreign: 0 });
    assert.is(asked, 1);
    const later = await reopened(of, context, { secrets: newKey });
    later.start();
    await until(() => drained(later));
    assert.is(context.network.sent.length, 4);
    assert.equal(await later.outbox.counts(), holds());
  });

  test.run();
}

/** Somebody who may write to the database. */
function swapCase(of: SenderCase): void {
  const test = suiteOf(of, "secrets that were swapped");
  for (const [what, change] of Object.entries({
    "another's box":
      "update adbind_sender_secrets set box = (select box from adbind_sender_secrets where registration like '%mine%') where registration like '%other%'",
    "its principal": "update adbind_sent_tasks set principal = 'thief' where task_id = 'other'",
    "its URL":
      "update adbind_sent_tasks set details = replace(details, 'buyer.example', 'thief.example') where task_id = 'other'",
    "its key id": "update adbind_sender_secrets set key_id = 'k2' where registration like '%other%'",
  }))
    test(`a row is set aside where somebody swapped ${what}, and the others go on`, async (context) => {
      const sender = await reopened(of, context, { secrets: { ...bothKeys, current: "k1" } });
      for (const taskId of ["mine", "other"]) await register(context, taskId);
      await of.rows(`${change} returning 1`);
      sender.start();
      await until(() => drained(sender));
      assert.equal(
        context.network.sent.map(({ body }) => body.task_id),
        ["mine"],
      );
      const [aside] = await sender.outbox.list();
      assert.is(aside!.state, "refused");
      assert.match(aside!.error!, what === "its principal" ? "belongs to another principal" : "a column was changed");
    });

  test.run();
}

/** The box itself. */
function boxCase(of: SenderCase): void {
  const test = suiteOf(of, "boxes");
  test("a box opens for what it was made for and for nothing else, and no two are alike", async () => {
    const keyring = await createKeyring(secretKeys);
    const owner = { principal: "p", registration: "r", url: "u" };
    const box = keyring.seal("secret", owner);
    assert.equal(keyring.open(box, owner), { ok: true, text: "secret" });
    assert.is.not(keyring.seal("secret", owner).box, box.box);
    for (const member of ["principal", "registration", "url"])
      assert.equal(keyring.open(box, { ...owner, [member]: "x" }), { ok: false, why: "foreign" });
    // Of random text one character in 64 is an "A" already.
    const other = (text: string): string => text.replaceAll(/./g, (one) => (one === "A" ? "B" : "A"));
    const [first, last] = [box.box.slice(0, 1), box.box.slice(-2)];
    for (const broken of ["", "AAAA", box.box.slice(0, -2) + other(last), other(first) + box.box.slice(1)])
      assert.equal(keyring.open({ ...box, box: broken }, owner), { ok: false, why: "foreign" });
    assert.equal(keyring.open({ ...box, key_id: "constructor" }, owner), { ok: false, why: "lost" });
  });
  test.run();
}

export function secretCase(of: SenderCase): void {
  for (const cases of [bytesCase, toldCase, lifeCase, keyCase, keylessCase, movedSecretCase, swapCase, boxCase])
    cases(of);
}
