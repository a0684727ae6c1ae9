/** A database of a split that says nothing any more, as one whose machine or network has frozen: it refuses no connection. */
import { setTimeout as pause } from "node:timers/promises";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { type AnyDatabase, openPostgres } from "../../runtime/db/index.js";
import { createSender } from "../../runtime/sender/index.js";
import { splitChange } from "../../runtime/store/split/change.js";
import { placeAmong } from "../../runtime/store/split/placement.js";
import { shardedByPrincipal } from "../../runtime/store/split/principals.js";
import { FakeNetwork, optionsFor } from "../sender/fixture.js";
import { startRelay } from "../support/relay.js";
import { thrownBy } from "../support/thrown.js";
import { named, postgresGround } from "./databases.js";
import { buyers, THREE } from "./principal-world.js";

const ground = await postgresGround();
test.after(() => ground.close());

const buyerAt = (name: string): string => buyers.find((one) => placeAmong(THREE, one) === name)!;

test("the others' changes go on, and what is asked of it is told that it does not answer", async () => {
  const urls = await ground.fresh(3);
  const relay = await startRelay(Number(new URL(urls[1]!).port));
  const through = Object.assign(new URL(urls[1]!), { port: String(relay.port), search: "connect_timeout=5" }).href;
  const frozen = (): Promise<AnyDatabase> =>
    openPostgres({ url: through, connections: 4, statementTimeoutMs: 7_000, deadlineSlackMs: 1_000 });
  const databases = named(urls, THREE).map((one) => (one.name === "b" ? { ...one, database: frozen } : one));
  const change = splitChange({ kind: "principal", databases });
  await change.init();
  await change.close();
  const store = await shardedByPrincipal(databases);
  const clock = { at: Date.now() };
  const sender = await createSender({ ...optionsFor(clock, new FakeNetwork(clock)), store } as never);
  const attach = (name: string, taskId = `task ${name}`): Promise<unknown> =>
    Promise.resolve(
      sender.tasks.attach(
        {
          taskId,
          principal: buyerAt(name),
          tool: "create_media_buy",
          protocol: "media-buy",
          status: "submitted",
        } as never,
        { url: "https://hook.example/h" },
      ),
    );
  for (const name of THREE) await attach(name);
  relay.freeze();
  const began = performance.now();
  await sender.tasks.update("task a", { status: "working" });
  assert.ok(performance.now() - began < 5_000, `it took ${performance.now() - began} ms`);
  const place = new RegExp(`:${relay.port}/`);
  const asked = performance.now();
  const asking = Array.from({ length: 6 }, (_, at) => thrownBy(() => attach("b", at < 3 ? undefined : `task b ${at}`)));
  await pause(1_000);
  const later = Array.from({ length: 6 }, (_, at) => thrownBy(() => attach("b", `task b, later ${at}`)));
  const faults = (await Promise.all([asking, later].map((some) => Promise.all(some)))).flat();
  // What was asked for first, and then what was asked for meanwhile: nobody waits for the calls before his.
  assert.ok(performance.now() - asked < 20_000, `it took ${performance.now() - asked} ms`);
  for (const { code, message } of faults) {
    assert.is(code, "database_unreachable");
    assert.match(message, place);
  }
  relay.cut();
  relay.thaw();
  await sender.stop();
  await store.close();
  await relay.close();
});

test.run();
