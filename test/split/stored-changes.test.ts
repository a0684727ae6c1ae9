/** Changes that applications store by SQL, in one of several databases, while their principal moves to another. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { placeAmong } from "../../runtime/store/split/placement.js";
import { until } from "../support/until.js";
import { postgresGround } from "./databases.js";
import { codeOf, fill, going, principalWorld, staying, THREE, taskOf } from "./principal-world.js";

const ground = await postgresGround();
test.after(() => ground.close());

test("a change stays where it was stored, and its event is made where its task has moved to", async () => {
  const place = await principalWorld(ground);
  const { sender, network } = await place.instance(4);
  const [principal] = going as [string];
  const keys = await fill(sender, principal, 1);
  const from = await place.database(placeAmong(THREE, principal));
  const stored: Promise<unknown>[] = [];
  const store = (message: string): void => {
    const text = "select adbind_enqueue(?, 'working', message => ?)";
    stored.push(from.query((q) => q.rows(text, [taskOf(principal), message])));
  };
  store("before");
  await Promise.all(stored);
  const change = place.change({ onStep: (step) => step === "copied" && store("meanwhile") });
  await change.add("d");
  assert.is(await change.move(), 1);
  await Promise.all(stored);
  sender.start();
  const told = () => network.sent.filter(({ body }) => body.task_id === taskOf(principal));
  // Counts of several databases are not of one moment.
  await until(() => told().length === 3);
  assert.equal(
    told().map(({ body }) => body.message),
    ["0", "before", "meanwhile"],
  );
  assert.is(told()[0]!.body.idempotency_key, keys[0]);
  await place.close();
});

test("a database is removed when senders have made the events of what was stored in it", async () => {
  const place = await principalWorld(ground);
  const { sender, network } = await place.instance(3);
  const [principal] = staying as [string];
  await fill(sender, principal, 0);
  const home = placeAmong(THREE, principal);
  const from = await place.database(home);
  const store = (message: string, status = "working"): Promise<unknown> => {
    const text = "select adbind_enqueue(?, ?, message => ?)";
    return from.query((q) => q.rows(text, [taskOf(principal), status, message]));
  };
  await store("waits");
  await store("refused", "nonsense");
  const change = place.change({ waitMs: 300 });
  await change.remove(home);
  assert.is(await codeOf(() => change.move()), "split_moving");
  assert.is.not((await change.status()).set!.previous, null);
  sender.start();
  await until(() => network.sent.some(({ body }) => body.message === "waits"));
  await until(async () => (await sender.outbox.counts()).refused === 1);
  // What was set aside is an operator's to decide on.
  assert.is(await codeOf(() => change.move()), "split_moving");
  const [aside] = await sender.outbox.list({ state: "refused" });
  assert.ok(await sender.outbox.drop(aside!.id));
  await change.move();
  assert.is((await change.status()).set!.previous, null);
  await place.close();
});

test.run();
