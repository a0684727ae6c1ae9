/** What was looked up when jobs were leased serves all of them, those of one registration too: retries of it go beside each other. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { release } from "../../generated/3.1.0/index.js";
import { openQueue } from "../../runtime/queue/index.js";
import { createSender } from "../../runtime/sender/index.js";
import { OUTBOX_TOPIC } from "../../runtime/sender/outbox.js";
import { openSenderReleases } from "../../runtime/sender/releases.js";
import { createKeyring } from "../../runtime/sender/sealing.js";
import { createTargets } from "../../runtime/sender/targets.js";
import { openSqliteStore } from "../../runtime/store/index.js";
import { senderTables } from "../../runtime/store/sender-tables.js";
import { tempFolder } from "../support/release.js";
import { FakeNetwork, NOW, optionsFor, secretKeys } from "./fixture.js";
import { HOOK, push, secret, start } from "./sender-suite.js";

test("a registration is looked up once for all events of a lease, its secrets too", async () => {
  const store = openSqliteStore({ path: `${tempFolder()}/targets.db` });
  const clock = { at: NOW };
  const sender = await createSender({ ...optionsFor(clock, new FakeNetwork(clock)), store });
  await sender.tasks.register(start({ taskId: "sealed" }), { push: { ...push, token: secret } });
  await sender.tasks.register(start({ taskId: "plain" }), { push });
  const known = senderTables(store.database);
  const looks: string[] = [];
  const tables = {
    ...known,
    *secretsOf(...[q, names]: Parameters<typeof known.secretsOf>) {
      looks.push(...names);
      return yield* known.secretsOf(q, names);
    },
  };
  const queue = openQueue(store.database, OUTBOX_TOPIC);
  let reads = 0;
  const counted: typeof queue = {
    ...queue,
    read: (work) => {
      reads++;
      return queue.read(work);
    },
  };
  const releases = await openSenderReleases([release], undefined);
  const keyring = await createKeyring(() => secretKeys);
  const targets = createTargets({ queue: counted, tables, keyring, releases, callbackMs: 1_000 });
  const expected = ["sealed", "plain"].map((task) => ({ target: { task, via: "push" as const } }));
  targets.expect(expected);
  for (let event = 0; event < 4; event++) {
    for (const { target } of expected) {
      const found = await targets.find({ target, principal: "buyer-1", type: "create_media_buy" });
      assert.is(found.kind === "found" && found.target.url, HOOK);
    }
  }
  // The rows of both, and the secrets of one.
  assert.equal([reads, looks.length], [2, 1]);
  await queue.close();
  await sender.stop();
  await store.close();
});

test.run();
