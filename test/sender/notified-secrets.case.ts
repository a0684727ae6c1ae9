/** Credentials of notification configs: sealed, used at each attempt as they are then, and gone with their config. */
import * as assert from "uvu/assert";
import { until } from "../support/until.js";
import { account, bearer, changed, countSecrets, listening, proving, secretOf, told } from "./registered-secrets.js";
import { drained, reopened, type SenderCase, suiteOf } from "./sender-suite.js";

export function notifiedSecretCase(of: SenderCase): void {
  const test = suiteOf(of, "secrets of notifications");
  test("credentials that change are proved and used at once, by what is queued too, and go when their config does", async (context) => {
    const sender = await reopened(of, context, proving);
    const { network } = context;
    const challenges = () => network.sent.filter(({ body }) => body.type === "webhook.challenge");
    network.react = listening;
    await sender.notifications.sync(account, [told]);
    await sender.notifications.sync(account, [told]);
    assert.is(challenges().length, 1, "what is the same needs no other proof");
    await sender.notifications.notify(changed);
    await sender.notifications.sync(account, [{ ...told, authentication: bearer("rotated") }]);
    assert.is(challenges().length, 2);
    assert.is(await countSecrets(of), 1);
    sender.start();
    await until(() => drained(sender));
    assert.is(network.sent.at(-1)!.headers.authorization, `Bearer ${secretOf("rotated")}`);
    await sender.notifications.sync(account, []);
    assert.is(await countSecrets(of), 0);
    assert.equal(await sender.notifications.list(account), []);
    assert.ok(!(await of.bytes()).includes(secretOf("rotated")));
  });

  test("a proof of credentials that were changed meanwhile proves nothing", async (context) => {
    const sender = await reopened(of, context, proving);
    const { network } = context;
    const again = Promise.withResolvers<void>();
    network.react = async (sent) => {
      if (network.sent.length > 1) return 500;
      await sender.notifications.sync(account, [{ ...told, authentication: bearer("rotated") }]);
      again.resolve();
      return listening(sent);
    };
    await sender.notifications.sync(account, [told]);
    await again.promise;
    assert.is((await sender.notifications.list(account))[0]!.active, false);
    assert.equal((await sender.notifications.notify(changed)).keys, []);
  });

  test("without a key a config that carries credentials is refused", async (context) => {
    const sender = await reopened(of, context, { ...proving, secrets: undefined as never });
    const refused = await sender.notifications.sync(account, [told]);
    assert.is(refused.ok ? "" : refused.error.field, "notification_configs[0].authentication");
  });
  test.run();
}
