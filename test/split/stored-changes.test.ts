/** Changes that applications store by SQL, in one of several databases, while their principal moves to another. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { placeAmong } from "../../runtime/store/split/placement.js";
import { until } from "../support/until.js";
import { postgresGround } from "./databases.js";
import { fill, going, principalWorld, THREE, taskOf } from "./principal-world.js";

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

test.run();
