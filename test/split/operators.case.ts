/** What operators do to events of a principal that is on its way: nothing of it is lost, and nothing counts twice. */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { withOutbox } from "../../cli/outbox-store.js";
import type { Sender } from "../../runtime/sender/index.js";
import type { Outbox } from "../../runtime/sender/operators.js";
import type { MoveStep } from "../../runtime/store/split/move.js";
import { placeAmong } from "../../runtime/store/split/placement.js";
import { thrownBy } from "../support/thrown.js";
import { until } from "../support/until.js";
import type { Ground } from "./databases.js";
import { codeOf, fill, going, type PrincipalWorld, principalWorld, THREE } from "./principal-world.js";

type Change = "retry" | "replay" | "drop";
const CHANGES: readonly Change[] = ["retry", "replay", "drop"];

/** A move that waits at some steps until what is to be seen there has been. */
async function movedWith(place: PrincipalWorld, at: Partial<Record<MoveStep, () => Promise<void>>>): Promise<void> {
  const failed: unknown[] = [];
  const change = place.change({
    fenceMs: 60_000,
    onStep: (step) => at[step]?.().catch((error: unknown) => failed.push(error)),
  });
  await change.add("d");
  await change.move();
  if (failed.length > 0) throw failed[0];
}

type Case = ReturnType<typeof suite<{ place: PrincipalWorld }>>;

export function splitOperatorCase(ground: Ground): void {
  const test = suite<{ place: PrincipalWorld }>(`operators of a split, ${ground.name}`);
  test.before.each(async (context) => {
    context.place = await principalWorld(ground);
  });
  test.after.each(async ({ place }) => place.close());

  changes(test);
  oneDatabase(test);
  test.after(() => ground.close());
  test.run();
}

function changes(test: Case): void {
  test("an endpoint that none of the databases knows is not paused, and not moved", async ({ place }) => {
    const { sender } = await place.instance(3);
    for (const principal of going.slice(0, 2)) await fill(sender, principal, 1);
    const [known] = await sender.outbox.endpoints();
    const mistyped = `${known!.endpoint}x`;
    const to = "https://new.example/hook";
    for (const act of [() => sender.outbox.pause(mistyped), () => sender.outbox.move(mistyped, to)]) {
      const { code, message } = await thrownBy(act as () => Promise<unknown>);
      assert.is(code, "endpoint_unknown");
      assert.match(message, known!.endpoint);
    }
    assert.not.ok((await sender.outbox.endpoints()).some(({ state }) => state === "paused"));
    await sender.outbox.pause(known!.endpoint);
    assert.equal(
      (await sender.outbox.endpoints()).filter(({ state }) => state === "paused").map(({ endpoint }) => endpoint),
      [known!.endpoint],
    );
    const moved = await sender.outbox.move(known!.endpoint, to);
    assert.equal([moved.registrations, moved.events], [4, 1], "the others know nothing of it");
  });

  test("a replay and a drop are refused while a principal moves, and done to what is where it has gone", async ({
    place,
  }) => {
    const { sender } = await place.instance(4, { waitMs: 50 });
    const [principal] = going as [string];
    const keys = await fill(sender, principal, 3);
    const source = await place.database(placeAmong(THREE, principal));
    await source.execute(`update adbind_jobs set state = 'dead', token = null where key = '${keys[0]}'`);
    const numbers = async ({ outbox }: Sender): Promise<number[]> => {
      const entries = await outbox.list({ principal });
      return keys.map((key) => entries.find((one) => one.key === key)!.id);
    };
    const [dead, , last] = (await numbers(sender)) as [number, number, number];
    await movedWith(place, {
      async verified() {
        assert.is(await codeOf(() => sender.outbox.replay(dead)), "split_moving");
        assert.is(await codeOf(() => sender.outbox.drop(last)), "split_moving");
      },
      async left() {
        for (const what of CHANGES) {
          const told = await thrownBy(() => sender.outbox[what](dead));
          assert.is(told.code, "split_wrong_database");
          assert.match(told.message, "to the database d");
        }
      },
    });
    assert.is(await sender.outbox.drop(last), false, "its number is another now");
    const { sender: after, network } = await place.instance(4);
    const [deadNow, , lastNow] = (await numbers(after)) as [number, number, number];
    assert.is(await after.outbox.drop(lastNow), true);
    assert.is(await after.outbox.replay(deadNow), true);
    after.start();
    await until(async () => (await after.outbox.counts()).waiting === 0);
    assert.equal(network.sent.map(({ body }) => body.idempotency_key).sort(), keys.slice(0, 2).sort());
  });
}

function oneDatabase(test: Case): void {
  test("the outbox of one database of a split tells where a principal is that is not there, or not yet", async ({
    place,
  }) => {
    const { sender } = await place.instance(4);
    const [principal] = going as [string];
    const [key] = await fill(sender, principal, 1);
    const from = placeAmong(THREE, principal);
    const urlOf = (name: string): string => place.urls[["a", "b", "c", "d"].indexOf(name)]!;
    const changed = (name: string, what: Change) =>
      withOutbox({ store: urlOf(name) }, "change", async (outbox: Outbox) => {
        const { id } = (await outbox.list({ principal })).find((one) => one.key === key)!;
        await outbox[what](id);
      });
    const told = async (name: string): Promise<string> => {
      const { code, message } = await thrownBy(() => changed(name, "drop"));
      return `${code}: ${message}`;
    };
    await movedWith(place, {
      async verified() {
        assert.match(await told(from), "split_moving");
        assert.match(await told("d"), `split_wrong_database: the principal's events are still in the database ${from}`);
      },
      async left() {
        assert.match(await told(from), "split_wrong_database: the principal's events went to the database d");
      },
    });
    await changed("d", "retry");
    await changed("d", "drop");
    assert.is((await sender.outbox.list({ principal })).length, 0);
  });
}
