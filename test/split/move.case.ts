/** Moves of keyspaces: what is copied, a stop at every step, traffic meanwhile, and instances with other lists. */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { AdbindError } from "../../runtime/errors.js";
import type { MoveStep } from "../../runtime/store/split/move.js";
import { placeAmong } from "../../runtime/store/split/placement.js";
import { receiverTables } from "../../runtime/store/split/receiver-tables.js";
import type { SplitStore } from "../../runtime/store/split/receivers.js";
import { arrival, NOW, newEvent, registration } from "../store/cases/events.js";
import type { Ground } from "./databases.js";
import { fill, senderOf, type World, world } from "./world.js";

const STEPS: readonly MoveStep[] = ["arriving", "copied", "fenced", "verified", "left", "arrived", "removed"];
const [THREE, FOUR] = [
  ["a", "b", "c"],
  ["a", "b", "c", "d"],
];

const refused = (code: string) => (error: unknown) => error instanceof AdbindError && error.code === code;

async function rejects(work: Promise<unknown>, code: string): Promise<void> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  assert.ok(refused(code)(error), `${code}: ${String(error)}`);
}

/** Senders that go to the fourth database, and as many that stay. */
const going = (count: number): string[] =>
  Array.from({ length: 200 }, (_, i) => senderOf(i))
    .filter((one) => placeAmong(FOUR, one) === "d")
    .slice(0, count);
const staying = (count: number): string[] =>
  Array.from({ length: 200 }, (_, i) => senderOf(i))
    .filter((one) => placeAmong(FOUR, one) !== "d")
    .slice(0, count);

/** Every row of a sender is in the database where it belongs. */
async function assertAt(place: World, sender: string, name: string, events: number): Promise<void> {
  const found = await place.where(sender);
  assert.equal(Object.keys(found), [name], `${sender}: ${JSON.stringify(found)}`);
  const { adbind_claims: claims, adbind_inbox: inbox, adbind_nonces: nonces } = found[name]!;
  assert.equal({ claims, inbox, nonces }, { claims: events, inbox: events, nonces: events });
}

/** What was taken before the move is known after it. */
async function assertRemembered(store: SplitStore, sender: string, keys: readonly string[]): Promise<void> {
  const events = await store.inbox.list({ sender });
  assert.equal(
    events.map(({ key }) => key),
    keys,
    "in their order",
  );
  const again = arrival(newEvent({ sender, key: keys[0]!, route: events[0]!.route }), { now: Date.now() });
  assert.is((await store.inbox.accept(again)).outcome, "duplicate");
  assert.is(await store.replay().insert(`${sender} key-1`, "nonce-0", NOW, NOW / 1000), "seen");
  assert.is(await store.claims(sender), keys.length);
  assert.ok((await store.task(sender, "t-0")) !== undefined);
  assert.is((await store.registrations.binding(events[0]!.route))?.sender, sender);
}

export function moveCase(ground: Ground): void {
  const test = suite<{ place: World }>(`moves, ${ground.name}`);
  test.before.each(async (context) => {
    context.place = await world(ground);
  });
  test.after.each(async ({ place }) => place.close());
  test.after(() => ground.close());
  stops(test);
  lifted(test);
  outlasted(test);

  added(test);
  traffic(test);
  otherLists(test);
  removed(test);
  test.run();
}

type MoveSuite = ReturnType<typeof suite<{ place: World }>>;

function added(test: MoveSuite): void {
  test("a database that is added gets what belongs there and nothing else", async ({ place }) => {
    const store = await place.instance(4);
    const keys = new Map<string, string[]>();
    for (const sender of [...going(2), ...staying(3)]) keys.set(sender, await fill(store, sender, 5));
    const change = place.change();
    await change.add("d");
    assert.is(await change.move(), 2);
    assert.is(await change.move(), 0, "again, there is nothing to do");
    const fresh = await place.instance(4);
    for (const [sender, known] of keys) {
      await assertAt(place, sender, placeAmong(FOUR, sender), 5);
      for (const one of [store, fresh]) await assertRemembered(one, sender, known);
    }
    const { set, databases } = await change.status();
    assert.is(set?.previous, null);
    assert.equal(
      databases.map(({ version }) => version),
      [3, 3, 3, 3],
    );
  });
}

function traffic(test: MoveSuite): void {
  test("traffic that flows while keyspaces move is taken once, and none of it lost", async ({ place }) => {
    const [store, other] = [await place.instance(4), await place.instance(4)];
    const senders = [...going(2), ...staying(1)];
    const known = new Map<string, string[]>();
    for (const sender of senders) known.set(sender, await fill(store, sender, 2));
    let moving = true;
    // Where the machine has other work a fence may hold for longer than an instance waits: a sender is told so, and tries again.
    const acceptBy = async (instance: SplitStore, event: ReturnType<typeof newEvent>): Promise<string> => {
      for (;;) {
        try {
          return (await instance.inbox.accept(arrival(event, { now: Date.now() }))).outcome;
        } catch (error) {
          if (!refused("split_moving")(error)) throw error;
        }
      }
    };
    const flow = async (sender: string, instance: SplitStore): Promise<void> => {
      const route = `/hooks/${sender.replace(/\W/g, "")}`;
      while (moving) {
        const event = newEvent({ sender, route, operationId: null });
        assert.is(await acceptBy(instance, event), "accepted");
        assert.is(await acceptBy(instance, event), "duplicate");
        known.get(sender)!.push(event.key);
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
    };
    const moved = async (): Promise<number> => {
      try {
        const change = place.change();
        await change.add("d");
        return await change.move();
      } finally {
        moving = false;
      }
    };
    const flows = senders.flatMap((sender) => [flow(sender, store), flow(sender, other)]);
    const [count] = await Promise.all([moved(), ...flows]);
    assert.is(count, 2);
    for (const [sender, keys] of known) {
      const listed = (await store.inbox.list({ sender })).map(({ key }) => key);
      assert.equal([...listed].sort(), [...keys].sort());
      assert.equal(Object.keys(await place.where(sender)), [placeAmong(FOUR, sender)]);
    }
  });
}

function otherLists(test: MoveSuite): void {
  test("an instance with the list of before goes on with what it has, and refuses the rest", async ({ place }) => {
    const old = await place.instance(3);
    const [moved] = going(1) as [string];
    const [kept] = staying(1) as [string];
    for (const sender of [moved, kept]) await fill(old, sender, 2);
    const change = place.change();
    await change.add("d");
    await change.move();
    const unseen = going(2)[1]!;
    // One that nobody has seen first: of the change this instance has heard nothing yet.
    for (const sender of [unseen, moved]) {
      await rejects(old.inbox.accept(arrival(newEvent({ sender }))), "split_outdated");
      await rejects(old.registrations.add(registration({ sender, route: "/hooks/new" }), NOW), "split_outdated");
      const spent = Promise.resolve(old.replay().insert(`${sender} k`, "n", NOW, NOW / 1000));
      await rejects(spent, "split_outdated");
    }
    assert.is((await old.inbox.accept(arrival(newEvent({ sender: kept })))).outcome, "accepted");
    assert.equal(Object.keys(await place.where(unseen)), []);
    await assertAt(place, moved, "d", 2);
    await rejects(place.instance(3), "split_outdated");
  });
}

function removed(test: MoveSuite): void {
  test("a database that is removed leaves nothing behind, and may come back", async ({ place }) => {
    const store = await place.instance(3);
    const senders = Array.from({ length: 6 }, (_, i) => senderOf(i));
    const keys = new Map<string, string[]>();
    for (const sender of senders) keys.set(sender, await fill(store, sender, 2));
    const change = place.change();
    await change.remove("b");
    await rejects(change.add("d"), "split_invalid");
    await change.move();
    for (const sender of senders) await assertAt(place, sender, placeAmong(["a", "c"], sender), 2);
    await change.add("b");
    await change.move();
    for (const [sender, known] of keys) {
      await assertAt(place, sender, placeAmong(THREE, sender), 2);
      await assertRemembered(store, sender, known);
    }
  });
}

/** A fence that was lifted is none: what was written since is copied too. */
function lifted(test: MoveSuite): void {
  test("a move whose fence was lifted meanwhile copies what was written since", async ({ place }) => {
    const store = await place.instance(4);
    const [sender] = going(1) as [string];
    const keys = await fill(store, sender, 2);
    const event = newEvent({ sender, route: `/hooks/${sender.replace(/\W/g, "")}`, operationId: null });
    let late = false;
    const change = place.change({
      fenceMs: 1_500,
      async onStep(at) {
        if (at !== "verified" || late) return;
        late = true;
        assert.is((await store.inbox.accept(arrival(event, { now: Date.now() }))).outcome, "accepted");
      },
    });
    await change.add("d");
    assert.is(await change.move(), 1);
    assert.equal(Object.keys(await place.where(sender)), ["d"]);
    assert.equal(
      (await store.inbox.list({ sender })).map(({ key }) => key),
      [...keys, event.key],
    );
  });
}

/** Whose copy takes longer than its fence may stand is told so, and not that another has its rows. */
function outlasted(test: MoveSuite): void {
  test("a move whose fence is over each time says that time was too short", async ({ place }) => {
    const store = await place.instance(4);
    const [sender] = going(1) as [string];
    const route = `/hooks/${sender.replace(/\W/g, "")}`;
    const keys = await fill(store, sender, 2);
    const { copyFenced } = receiverTables;
    const slow: typeof copyFenced = async (...given) => {
      const rows = await copyFenced(...given);
      const event = newEvent({ sender, route, operationId: null });
      assert.is((await store.inbox.accept(arrival(event, { now: Date.now() }))).outcome, "accepted");
      keys.push(event.key);
      return rows;
    };
    Object.assign(receiverTables, { copyFenced: slow });
    const change = place.change({ fenceMs: 300 });
    await change.add("d");
    const error = await change.move().catch((thrown: unknown) => thrown);
    Object.assign(receiverTables, { copyFenced });
    assert.match(String(error), "stood still for 300 ms");
    assert.is(await place.change().move(), 1);
    assert.equal(Object.keys(await place.where(sender)), ["d"]);
    assert.equal(
      (await store.inbox.list({ sender })).map(({ key }) => key),
      keys,
    );
  });
}

/** A move that is stopped anywhere is ended by the next, and keeps nobody waiting for longer than its fence. */
function stops(test: MoveSuite): void {
  for (const step of STEPS) {
    test(`a move that is stopped after "${step}" is ended by the next`, async ({ place }) => {
      const store = await place.instance(4);
      const senders = going(2);
      const keys = new Map<string, string[]>();
      for (const sender of senders) keys.set(sender, await fill(store, sender, 3));
      // As a kill: whoever waits for the step waits for ever, and nothing is tidied up.
      const stopped = Promise.withResolvers<void>();
      const killed = place.change({
        fenceMs: 1_500,
        onStep(at) {
          if (at !== step) return undefined;
          stopped.resolve();
          return new Promise(() => undefined);
        },
      });
      await killed.add("d");
      const gone = killed.move();
      gone.catch((error: unknown) => stopped.reject(error));
      await stopped.promise;
      for (const sender of senders) {
        const event = newEvent({ sender, route: `/hooks/${sender.replace(/\W/g, "")}`, operationId: null });
        assert.is((await store.inbox.accept(arrival(event, { now: Date.now() }))).outcome, "accepted", sender);
        assert.ok(await store.inbox.drop((await store.inbox.list({ sender })).at(-1)!.id, NOW));
      }
      await place.change().move();
      for (const [sender, known] of keys) {
        const found = await place.where(sender);
        assert.equal(Object.keys(found), ["d"], `${sender}: ${JSON.stringify(found)}`);
        assert.equal(
          (await store.inbox.list({ sender })).map(({ key }) => key),
          known,
        );
        assert.is(await store.claims(sender), known.length + 1);
      }
    });
  }
}
