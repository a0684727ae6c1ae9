/** Senders on several databases: whose rows are where, what a wrong transaction is told, and moves. */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { AnyDatabase } from "../../runtime/db/open.js";
import { openQueue } from "../../runtime/queue/index.js";
import type { MoveStep } from "../../runtime/store/split/move.js";
import { placeAmong } from "../../runtime/store/split/placement.js";
import { until } from "../support/until.js";
import type { Ground } from "./databases.js";
import {
  buyers,
  buyOf,
  codeOf,
  FOUR,
  fill,
  going,
  type PrincipalWorld,
  principalWorld,
  staying,
  THREE,
  taskOf,
} from "./principal-world.js";

type Case = ReturnType<typeof suite<{ place: PrincipalWorld }>>;

const parts = { placed, wrong, moved, leased, givenBack, traffic } as const;
export type PrincipalPartName = keyof typeof parts;

/** @param chosen some of the parts; by default all, and moves that are stopped */
export function principalCase(ground: Ground, chosen?: readonly PrincipalPartName[]): void {
  const test = suite<{ place: PrincipalWorld }>(`principals, ${ground.name}`);
  test.before.each(async (context) => {
    context.place = await principalWorld(ground);
  });
  test.after.each(async ({ place }) => place.close());
  test.after(() => ground.close());
  for (const name of chosen ?? (Object.keys(parts) as PrincipalPartName[])) parts[name](test);
  if (chosen === undefined) stopped(test, ground.name === "sqlite" ? STEPS : SOME_STEPS);
  test.run();
}

function placed(test: Case): void {
  test("everything of a principal is in the one database that has it, and all of them deliver", async ({ place }) => {
    const { sender, store, network } = await place.instance(3);
    const some = buyers.slice(0, 6);
    for (const principal of some) await fill(sender, principal);
    for (const principal of some) {
      const found = await place.where(principal);
      assert.equal(Object.keys(found), [placeAmong(THREE, principal)], principal);
      assert.is((await store.databaseOf(principal)).where, (await place.database(placeAmong(THREE, principal))).where);
    }
    assert.is((await sender.channels.notify("list_change", "list-1", listChange)).keys.length, some.length);
    sender.start();
    await until(async () => (await sender.outbox.counts()).waiting === 0);
    assert.is(network.sent.length, 3 * some.length);
    assert.is((await sender.activity({ principal: some[0]!, subject: taskOf(some[0]!) })).length, 2);
    assert.ok((await sender.health()).reachable);
  });
}

const listChange = {
  event: "property_list_changed",
  list_id: "list-1",
  resolved_at: "2026-04-18T14:00:00Z",
  signature: "x",
};

/** Work in a transaction of the application's in a database. */
const inTransaction = async (database: AnyDatabase, work: (tx: object) => unknown): Promise<void> => {
  if (database.engine === "postgres") await database.transaction(async (tx) => void (await work(tx)));
  else database.file.transaction(() => void work(database.file))();
};

function wrong(test: Case): void {
  test("a change in a transaction of another database is refused, and in its own it is stored", async ({ place }) => {
    const { sender, store } = await place.instance(3);
    const [principal] = buyers as [string];
    await fill(sender, principal, 0);
    const own = (await store.databaseOf(principal)) as AnyDatabase;
    const name = THREE.find((one) => one !== placeAmong(THREE, principal))!;
    const other = await place.database(name);
    const update = (of?: string) => (tx: object) =>
      sender.tasks.update(taskOf(principal), { status: "working" }, { tx, ...(of !== undefined && { principal: of }) });
    const start = { taskId: "t-2", tool: "create_media_buy", status: "submitted", principal } as const;
    const push = { url: "https://buyer.example/hook", operation_id: "op" };
    for (const work of [
      update(),
      update(principal),
      (tx: object) => sender.tasks.register(start, { push }, { tx }),
      (tx: object) => sender.channels.close(buyOf(principal), { tx }),
      (tx: object) => sender.channels.notify("list_change", "list-1", listChange, { tx }),
    ])
      assert.is(await codeOf(() => inTransaction(other, work)), "split_wrong_database");
    assert.is(await codeOf(() => inTransaction(own, update())), "none");
    assert.is((await sender.outbox.counts()).waiting, 1);
  });
}

function moved(test: Case): void {
  test("a database that is added gets all of its principals, in their order, and they go on there", async ({
    place,
  }) => {
    const { sender, network } = await place.instance(4);
    const some = [...going.slice(0, 2), ...staying.slice(0, 2)];
    const keys = new Map<string, string[]>();
    for (const principal of some) keys.set(principal, await fill(sender, principal, 5));
    const before = new Map<string, object>();
    for (const principal of some) before.set(principal, Object.values(await place.where(principal))[0]!);
    const change = place.change();
    await change.add("d");
    assert.is(await change.move(), 2);
    for (const principal of some) {
      const found = await place.where(principal);
      assert.equal(found, { [placeAmong(FOUR, principal)]: before.get(principal) }, principal);
      const again = await sender.tasks.update(
        taskOf(principal),
        { status: "working", message: "0" },
        { dedupKey: "change-0" },
      );
      assert.equal(again.keys, keys.get(principal)!.slice(0, 1), "it is known under its dedup key");
    }
    const { sender: fresh } = await place.instance(4);
    fresh.start();
    sender.start();
    await until(async () => (await sender.outbox.counts()).waiting === 0);
    const sent = network.sent.map(({ body }) => body.idempotency_key as string);
    assert.is(new Set(sent).size, sent.length, "none is sent twice");
    for (const principal of some)
      assert.is((await sender.activity({ principal, subject: taskOf(principal) })).length, 5);
    assert.is((await sender.channels.close(buyOf(going[0]!))).keys.length, 1, "what was coalesced came along");
  });
}

function leased(test: Case): void {
  test("an event that is on its way is waited for, and nothing of its principal is begun meanwhile", async ({
    place,
  }) => {
    const { sender, network, looks } = await place.instance(4);
    const [principal] = going as [string];
    await fill(sender, principal, 3);
    sender.start();
    // Its endpoint is known to be well then, and may have several at once.
    await until(async () => (await sender.outbox.counts()).waiting === 0);
    const answer = Promise.withResolvers<number>();
    network.react = () => answer.promise;
    for (const message of ["3", "4", "5"]) await sender.tasks.update(taskOf(principal), { status: "working", message });
    await until(() => network.sent.length > 3);
    const steps: MoveStep[] = [];
    let asked = 0;
    const change = place.change({
      onStep: (step) => steps.push(step),
      // Whether something is still on its way depends on the time: it is read for each such look.
      now() {
        asked += 1;
        return Date.now();
      },
    });
    await change.add("d");
    const moving = change.move();
    // One that fails before it is waited for is told where it is.
    moving.catch(() => undefined);
    await until(() => steps.includes("copied"));
    try {
      const before = asked;
      await until(() => asked >= before + 5, "the move looks again and again for what is on its way");
      await looks.passed();
      assert.equal(steps, ["arriving", "copied"]);
      // The first in the order is being attempted: its successors wait, whoever may have them.
      assert.is(network.sent.length, 4);
    } finally {
      answer.resolve(200);
    }
    assert.is(await moving, 1);
    await until(async () => (await sender.outbox.counts()).waiting === 0);
    const sent = network.sent.map(({ body }) => body.message as string);
    assert.equal(sent, ["0", "1", "2", "3", "4", "5"]);
    assert.equal(Object.keys(await place.where(principal)), ["d"]);
  });
}

function givenBack(test: Case): void {
  test("a principal whose events somebody leases at any time, and gives back, moves all the same", async ({
    place,
  }) => {
    const { sender } = await place.instance(4);
    const [principal] = going as [string];
    await fill(sender, principal, 1);
    const name = placeAmong(THREE, principal);
    const queue = openQueue(await place.database(name), "webhooks");
    const request = () => ({ now: Date.now(), limit: 10, room: () => 10 });
    const change = place.change({
      async onStep(step) {
        if (step !== "fenced") return;
        const jobs = await queue.take(request());
        assert.ok(jobs.length > 0);
        const outcome = { kind: "released", due: 0 } as const;
        setTimeout(
          () =>
            void queue.ack(
              jobs.map((job) => ({ job, outcome })),
              Date.now(),
            ),
          40,
        );
      },
    });
    await change.add("d");
    assert.is(await change.move(), 1);
    assert.equal(Object.keys(await place.where(principal)), ["d"]);
    await queue.close();
  });
}

function traffic(test: Case): void {
  test("changes that are made while principals move are sent once, and none of them lost", async ({ place }) => {
    // How long a writer may be kept waiting is another matter: on a busy machine a move takes its time.
    const patient = { waitMs: 60_000 };
    const [one, two] = [await place.instance(4, patient), await place.instance(4, patient)];
    const some = [...going.slice(0, 2), ...staying.slice(0, 1)];
    const keys: string[] = [];
    for (const principal of some) keys.push(...(await fill(one.sender, principal, 1)));
    one.sender.start();
    two.sender.start();
    let over = false;
    const write = async (principal: string, at: number): Promise<void> => {
      const { sender, store } = at % 2 === 0 ? one : two;
      for (let n = 0; !over; n += 1) {
        const change = { status: "working", message: `m${n}` } as const;
        const database = (await store.databaseOf(principal)) as AnyDatabase;
        if (n % 2 === 0) keys.push(...(await sender.tasks.update(taskOf(principal), change)).keys);
        else {
          let emitted: readonly string[] = [];
          const code = await codeOf(() =>
            inTransaction(database, (tx) => {
              const made = sender.tasks.update(taskOf(principal), change, { tx, principal });
              if (!(made instanceof Promise)) emitted = made.keys;
              else return made.then((done) => (emitted = done.keys));
              return undefined;
            }),
          );
          assert.ok(["none", "split_moving", "split_wrong_database"].includes(code), code);
          if (code === "none") keys.push(...emitted);
        }
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    };
    const change = place.change({ fenceMs: patient.waitMs });
    // Those who write are heard to their ends: what fails is told, not what a database that is closed under them says.
    const writing = Promise.allSettled(some.map(write));
    const [moving] = await Promise.allSettled([change.add("d").then(() => change.move())]);
    over = true;
    for (const end of [moving, ...(await writing)]) if (end.status === "rejected") throw end.reason;
    assert.is(moving.status === "fulfilled" && moving.value, 2);
    await until(async () => (await one.sender.outbox.counts()).waiting === 0);
    const sent = [...one.network.sent, ...two.network.sent].map(({ body }) => body.idempotency_key as string);
    assert.equal(sent.sort(), keys.sort());
    for (const principal of some) assert.is(Object.keys(await place.where(principal)).length, 1, principal);
  });
}

const STEPS: readonly MoveStep[] = ["arriving", "copied", "fenced", "verified", "left", "arrived"];

/** Where the engine makes a difference: each costs a set of databases on a server. */
const SOME_STEPS: readonly MoveStep[] = ["left"];

function stopped(test: Case, steps: readonly MoveStep[]): void {
  for (const step of steps) {
    test(`a move of a principal that is stopped after "${step}" is ended by the next`, async ({ place }) => {
      const { sender, network } = await place.instance(4);
      const [principal] = going as [string];
      const keys = await fill(sender, principal, 3);
      sender.start();
      const at = Promise.withResolvers<void>();
      // As a kill: whoever waits for the step waits for ever, and nothing is tidied up.
      const killed = place.change({
        fenceMs: 1_500,
        onStep(reached) {
          if (reached !== step) return undefined;
          at.resolve();
          return new Promise(() => undefined);
        },
      });
      await killed.add("d");
      killed.move().catch((error: unknown) => at.reject(error));
      await at.promise;
      keys.push(...(await sender.tasks.update(taskOf(principal), { status: "working", message: "x" })).keys);
      await place.change().move();
      await until(async () => (await sender.outbox.counts()).waiting === 0);
      assert.equal(Object.keys(await place.where(principal)), ["d"]);
      const sent = network.sent.map(({ body }) => body.idempotency_key as string);
      assert.equal(sent, keys);
    });
  }
}
