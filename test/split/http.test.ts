/** What a webhook is answered over HTTP while its sender's keyspace stands still. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { pino } from "pino";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { release } from "../../generated/3.1.0/index.js";
import { createReceiver } from "../../runtime/receiver/index.js";
import { nodeListener } from "../../runtime/receiver/node.js";
import { placeAmong } from "../../runtime/store/split/placement.js";
import { createTestKey, signTestWebhook, testEvent } from "../../runtime/testing/index.js";
import { keysOf, PUBLIC_URL } from "../support/receiver.js";
import { sqliteGround } from "./databases.js";
import { senderOf, world } from "./world.js";

const ground = sqliteGround();
test.after(() => ground.close());

test("while its keyspace stands still a sender is told to come again in some seconds, and nobody else is", async () => {
  const place = await world(ground);
  const store = await place.instance(4, { waitMs: 100 });
  const isGoing = (one: string): boolean => placeAmong(["a", "b", "c", "d"], one) === "d";
  const all = Array.from({ length: 50 }, (_, i) => senderOf(i));
  const [moving, other] = [all.find(isGoing)!, all.find((one) => !isGoing(one))!];
  const key = createTestKey({ keyid: "key-1" });
  const receiver = createReceiver({
    store,
    release,
    handlers: { fallback: () => undefined },
    senders: { [moving]: { keys: keysOf(moving, key) }, [other]: { keys: keysOf(other, key) } },
    publicUrl: PUBLIC_URL,
    ignoreHost: true,
    logger: pino({ enabled: false }),
  } as never);
  await receiver.expect({ route: "/moving", sender: moving, kind: "task" });
  await receiver.expect({ route: "/other", sender: other, kind: "task" });
  const server = createServer(nodeListener(receiver)).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const post = async (route: string): Promise<Response> => {
    const { headers, body } = signTestWebhook({ url: PUBLIC_URL + route, event: testEvent(), key });
    return fetch(`http://127.0.0.1:${port}${route}`, { method: "POST", headers: { ...headers }, body });
  };
  const [fenced, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const change = place.change({
    fenceMs: 60_000,
    async onStep(step) {
      if (step !== "fenced") return;
      fenced.resolve();
      await goOn.promise;
    },
  });
  await change.add("d");
  const moved = change.move();
  await fenced.promise;
  const refused = await post("/moving");
  assert.is(refused.status, 503);
  assert.ok(Number(refused.headers.get("retry-after")) > 0, String(refused.headers.get("retry-after")));
  assert.is((await post("/other")).status, 200);
  goOn.resolve();
  await moved;
  assert.is((await post("/moving")).status, 200);
  assert.equal(Object.keys(await place.where(moving)), ["d"]);
  server.closeAllConnections();
  server.close();
  await receiver.stop();
  await place.close();
});

test.run();
