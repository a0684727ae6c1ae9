/** Credentials of notification configs: sealed, used at each attempt as they are then, and gone with their config. */
import { hash } from "node:crypto";
import * as assert from "uvu/assert";
import type { AdbindError } from "../../runtime/errors.js";
import { until } from "../support/until.js";
import { verify } from "./fixture.js";
import { account, bearer, changed, countSecrets, listening, proving, secretOf, told } from "./registered-secrets.js";
import { type Context, codeIn, drained, reopened, type SenderCase, suiteOf } from "./sender-suite.js";

/** A set whose only secret is in its URL, at instances with other keys and without. */
async function syncedElsewhere(of: SenderCase, context: Context): Promise<void> {
  const { network } = context;
  network.react = listening;
  const { authentication: _, ...hidden } = told;
  const [k1, k2] = [8, 9].map((byte) => new Uint8Array(32).fill(byte)) as [Uint8Array, Uint8Array];
  const older = { current: "k1", keys: { k1 } };
  const newer = { current: "k2", keys: { k1, k2 } };
  const first = await reopened(of, context, { ...proving, secrets: newer });
  assert.ok((await first.notifications.sync(account, [hidden])).ok);
  assert.ok(!(await of.bytes()).includes(secretOf("place")));
  const keyless = await reopened(of, context, { ...proving, secrets: undefined as never });
  const fault = await Promise.resolve(keyless.notifications.sync(account, [hidden])).catch((error: unknown) => error);
  assert.is((fault as AdbindError).code, "secret_keys_invalid");
  assert.is(await countSecrets(of), 1);
  assert.ok(!(await of.bytes()).includes(secretOf("place")));
  // A key that came since it started is asked for.
  let asked = 0;
  const late = await reopened(of, context, { ...proving, secrets: () => (asked++ === 0 ? older : newer) as never });
  assert.ok((await late.notifications.sync(account, [hidden])).ok);
  assert.is(network.sent.filter(({ body }) => body.type === "webhook.challenge").length, 1);
  const gone = await reopened(of, context, { ...proving, secrets: undefined as never });
  assert.ok((await gone.notifications.sync(account, [])).ok, "what goes needs no key");
  assert.is(await countSecrets(of), 0);
}

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

  test("a challenge is signed whatever events will carry: no credential goes to who has not proved itself", async (context) => {
    const sender = await reopened(of, context, proving);
    const { network } = context;
    assert.is(codeIn(await sender.notifications.sync(account, [told])), "VALIDATION_ERROR");
    const [challenge] = network.sent;
    assert.ok((await verify(challenge!)).ok);
    const { mode, credential_fingerprint: print } = challenge!.body.delivery_auth;
    assert.equal([mode, print], ["Bearer", hash("sha256", told.authentication.credentials, "hex")]);
    const { url: _url, ...sent } = challenge!;
    assert.not.ok(JSON.stringify(sent).includes(told.authentication.credentials));
    assert.is(await countSecrets(of), 0);
  });

  test("without a key a config that carries credentials is refused", async (context) => {
    const sender = await reopened(of, context, { ...proving, secrets: undefined as never });
    const refused = await sender.notifications.sync(account, [told]);
    assert.is(refused.ok ? "" : refused.error.field, "notification_configs[0].authentication");
  });

  test("a config whose URL is sealed is neither stored as it is nor proved anew by who lacks its key", (context) =>
    syncedElsewhere(of, context));
  test.run();
}
