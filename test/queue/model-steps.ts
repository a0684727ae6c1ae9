/** Steps that are taken on a queue and on a model of it, and what both have to agree in after each. */
import fc from "fast-check";
import * as assert from "uvu/assert";
import type { Job, Queue } from "../../runtime/queue/types.js";
import { ENDPOINTS, MODEL_LEASE, type ModelJob, type QueueModel } from "./queue-model.js";

export interface Real {
  /** Two instances on one database. */
  readonly queues: readonly [Queue, Queue];
  /** All that were ever leased, the last ones last. */
  readonly leased: Job[];
  readonly heldBy: "clock" | "database";
  pass(ms: number): Promise<void>;
}

type Run = (model: QueueModel, real: Real) => Promise<void>;
export type Step = fc.AsyncCommand<QueueModel, Real>;

/** One of those that there are when its turn comes. */
export const pick = <T>(all: readonly T[], at: number): T | undefined => all[at % Math.max(1, all.length)];

/** What is known agrees with what is there. */
export async function compare(model: QueueModel, { queues }: Real): Promise<void> {
  const listed = await queues[0].list();
  for (const one of listed) {
    const known = model.jobs.get(one.id);
    // Whether what it is in the hands of keeps it from moving is not known.
    if (known && model.mayBeHeld(known) && !model.isHeld(known)) known.endpoint = one.endpoint;
  }
  const shown = ({ key, state, endpoint, attempts, orderingKey }: Omit<ModelJob, "id" | "due" | "late">) =>
    `${key} ${state} at ${endpoint} under ${orderingKey}, attempted ${attempts} times`;
  assert.equal(
    listed.map((one) => shown({ ...one, lease: undefined, startedAt: 0 })),
    [...model.jobs.values()].map(shown),
  );
  for (const one of listed) {
    const known = model.jobs.get(one.id)!;
    assert.is(one.createdAt, known.createdAt, "since when it waits");
    if (model.isHeld(known)) assert.is(one.startedAt, known.startedAt, "begun");
    if (known.lease === undefined) assert.is(one.startedAt, null, `nothing of ${one.key} is under way`);
  }
  const counts = { ready: 0, dead: 0, expired: 0, refused: 0 };
  for (const { state } of listed) counts[state] += 1;
  assert.equal(await queues[1].counts(), counts);
  const all = await queues[1].endpoints({ limit: 10 });
  for (const endpoint of ENDPOINTS) {
    const { pausedUntil, failingSince, stopped } = model.endpoint(endpoint);
    const health = await queues[1].health(endpoint);
    assert.is(Math.max(model.now, health.pausedUntil), Math.max(model.now, pausedUntil), `pause of ${endpoint}`);
    assert.is(health.failingSince, failingSince, `failure of ${endpoint}`);
    const found = all.find((one) => one.endpoint === endpoint);
    const waiting = listed.filter((one) => one.endpoint === endpoint && one.state === "ready").length;
    assert.is(found?.waiting ?? 0, waiting);
    assert.is((found?.stoppedAt ?? null) !== null, stopped);
  }
}

const step = (name: string, run: Run): Step => ({
  check: () => true,
  async run(model, real) {
    await run(model, real);
    await compare(model, real);
  },
  toString: () => name,
});

const told = (value: unknown): string => JSON.stringify(value);
/** Steps of one kind, each by what is drawn for it. */
export const steps = <T>(
  name: string,
  drawn: fc.Arbitrary<T>,
  run: (given: T, ...on: Parameters<Run>) => Promise<void>,
) => drawn.map((given) => step(`${name} ${told(given)}`, (model, real) => run(given, model, real)));

/** Which of the two instances. */
export const instance = fc.constantFrom(0 as const, 1 as const);
export const other = (at: 0 | 1): 0 | 1 => (at === 0 ? 1 : 0);
export const endpoint = fc.constantFrom(...ENDPOINTS);
export const any = fc.nat(20);
/** Milliseconds from now, and before it. */
export const soon = fc.constantFrom(0, 0, 0, 1_000, MODEL_LEASE * 2);
export const ago = fc.constantFrom(0, 1, 1_000, MODEL_LEASE / 2);

export async function takeOnce(
  model: QueueModel,
  real: Real,
  given: { at: 0 | 1; limit: number; room: number; likely: boolean },
) {
  const { at, limit, room, likely } = given;
  const rooms = { room: () => room, ...(likely ? { likely: () => room } : {}) };
  const jobs = await real.queues[at].take({ now: model.now, limit, ...rooms });
  model.taken(jobs, given);
  real.leased.push(...jobs);
  return jobs;
}
