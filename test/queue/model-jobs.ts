/** Steps of a model of a queue: jobs that are added, leased and acknowledged, and what operators do to them. */
import { randomUUID } from "node:crypto";
import fc from "fast-check";
import * as assert from "uvu/assert";
import type { Ack, AckResult, JobOutcome } from "../../runtime/queue/types.js";
import { any, endpoint, instance, other, pick, soon, steps, takeOnce } from "./model-steps.js";
import { ORDERING_KEYS, type QueueModel } from "./queue-model.js";
import { job, put } from "./queue-suite.js";

/** Takes after which what is due has been found. */
export const FEW_TAKES = 6;

const adding = steps(
  "add",
  fc.record({
    at: instance,
    jobs: fc.array(fc.record({ endpoint, orderingKey: fc.constantFrom(null, ...ORDERING_KEYS), in: soon }), {
      minLength: 1,
      maxLength: 4,
    }),
  }),
  async ({ at, jobs }, model, { queues }) => {
    const added = jobs.map(({ in: ms, ...one }) => job({ ...one, key: randomUUID(), due: model.now + ms }));
    await put(queues[at], ...added);
    const listed = await queues[other(at)].list();
    for (const { key, due } of added) model.added(listed.find((one) => one.key === key)!, due!);
  },
);

const taking = steps(
  "take",
  fc.record({ at: instance, limit: fc.integer({ min: 1, max: 5 }), room: fc.nat(3), likely: fc.boolean() }),
  async (given, model, real) => void (await takeOnce(model, real, given)),
);

const takingAll = steps("take all", fc.record({ at: instance, likely: fc.boolean() }), async (given, model, real) => {
  for (let vain = 0; vain < FEW_TAKES; )
    vain = (await takeOnce(model, real, { ...given, limit: 50, room: 50 })).length > 0 ? 0 : vain + 1;
  assert.equal(
    model.ready.filter((one) => model.isDue(one)).map(({ key }) => key),
    [],
    "what is due is found by a few looks",
  );
});

const takingTwice = steps("both take", fc.boolean(), async (likely, model, real) => {
  const rooms = { room: () => 2, ...(likely ? { likely: () => 2 } : {}) };
  const taken = await Promise.all(real.queues.map((queue) => queue.take({ now: model.now, limit: 3, ...rooms })));
  for (const jobs of taken) {
    model.taken(jobs, { limit: 3, room: 2 });
    real.leased.push(...jobs);
  }
});

const drawnOutcome = fc.oneof(
  fc.constant({ kind: "done" } as const),
  fc.record({ kind: fc.constant("later" as const), in: soon, error: fc.constant("503") }),
  fc.record({ kind: fc.constant("released" as const), in: soon }),
  fc.record({ kind: fc.constantFrom("dead" as const, "refused" as const), error: fc.constant("over") }),
);
const movingOutcome = fc.record({ kind: fc.constant("released" as const), in: soon, endpoint });

function outcomeOf(drawn: { readonly kind: JobOutcome["kind"]; readonly in?: number }, now: number): JobOutcome {
  const { in: ms, ...rest } = drawn;
  return (ms === undefined ? rest : { ...rest, due: now + ms }) as JobOutcome;
}

/** Judges an acknowledgement by whether its token was still the job's. */
function acked(model: QueueModel, { job: one, outcome }: Ack, result: AckResult): void {
  const counts = model.counts(one);
  if (result === "busy") return;
  assert.type(result, "boolean");
  if (counts !== undefined) assert.is(result, counts, `an acknowledgement of ${one.key} counts`);
  if (result === true) model.acked(one, outcome);
  else if (counts === undefined) model.lost(one);
}

const acking = steps(
  "ack",
  fc.record({
    at: instance,
    which: fc.array(any, { minLength: 1, maxLength: 3 }),
    outcome: fc.oneof({ weight: 4, arbitrary: drawnOutcome }, { weight: 1, arbitrary: movingOutcome }),
  }),
  async (given, model, { queues, leased }) => {
    const outcome = outcomeOf(given.outcome, model.now);
    const told = given.which.map((at) => pick(leased.toReversed(), at)).filter((one) => one !== undefined);
    // One job once: of two that are told of it in one go it is not said which counts.
    const jobs = [...new Map(told.map((one) => [one.id, one])).values()];
    const acks = jobs.map((one) => ({ job: one, outcome }));
    const results = await queues[given.at].ack(acks, model.now);
    for (const [at, ack] of acks.entries()) acked(model, ack, results[at]!);
    if (outcome.kind !== "released" || outcome.endpoint === undefined) return;
    for (const { orderingKey, endpoint: from } of jobs.filter((_, at) => results[at] === true))
      if (orderingKey !== null)
        for (const one of model.waitingUnder(orderingKey, from))
          if (one.attempts === 0) one.endpoint = outcome.endpoint;
  },
);

/** What another does at the same time comes to the same before and after it. */
const ackingBeside = steps(
  "ack, and beside it",
  fc.record({ which: any, outcome: drawnOutcome, beside: fc.constantFrom("take", "replay", "drop"), of: any }),
  async (given, model, real) => {
    const [acks, others] = real.queues;
    const one = pick(real.leased.toReversed(), given.which);
    if (one === undefined) return;
    const ack = { job: one, outcome: outcomeOf(given.outcome, model.now) };
    const acking = acks.ack([ack], model.now).then(([result]) => result!);
    const them = given.beside === "replay" ? model.kept : model.ready.filter(({ id }) => id !== one.id);
    const chosen = given.beside === "take" ? undefined : pick(them, given.of);
    if (chosen === undefined) {
      const [result, jobs] = await Promise.all([acking, others.take({ now: model.now, limit: 4, room: () => 4 })]);
      acked(model, ack, result);
      model.taken(jobs, { limit: 4, room: 4 });
      real.leased.push(...jobs);
      return;
    }
    const change = given.beside === "replay" ? others.replay(chosen.id, model.now) : others.drop(chosen.id, model.now);
    const [result, changed] = await Promise.all([acking, change]);
    acked(model, ack, result);
    assert.ok(changed);
    if (given.beside === "replay") model.replayed(chosen);
    else model.jobs.delete(chosen.id);
  },
);

const renewing = steps("renew", fc.record({ at: instance, which: any }), async ({ at, which }, model, real) => {
  const one = pick(real.leased.toReversed(), which);
  if (one === undefined) return;
  const renewed = (await real.queues[at].renew([one], model.now)).has(one.id);
  const counts = model.counts(one);
  if (counts !== undefined) assert.is(renewed, counts, `a renewal of ${one.key} counts`);
  if (renewed) model.renewed(one);
  else if (counts === undefined) model.lost(one);
});

const redirecting = steps(
  "redirect",
  fc.record({ at: instance, key: fc.constantFrom(...ORDERING_KEYS), to: endpoint }),
  async ({ at, key, to }, model, real) => {
    await real.queues[at].transact((q) => real.queues[at].redirect(q, key, to));
    for (const one of model.ready) if (one.orderingKey === key) one.endpoint = to;
  },
);

const replaying = steps("replay", fc.record({ at: instance, which: any }), async ({ at, which }, model, { queues }) => {
  const one = pick(which % 5 === 0 ? [...model.jobs.values()] : model.kept, which);
  if (one === undefined) return;
  assert.is(await queues[at].replay(one.id, model.now), one.state !== "ready");
  if (one.state !== "ready") model.replayed(one);
});

const dropping = steps("drop", fc.record({ at: instance, which: any }), async ({ at, which }, model, { queues }) => {
  const one = pick([...model.jobs.values()], which);
  if (one === undefined) return;
  assert.is(await queues[at].drop(one.id, model.now), true);
  assert.is(await queues[other(at)].drop(one.id, model.now), false);
  model.jobs.delete(one.id);
});

const hastening = steps("hasten", fc.record({ at: instance, which: any }), async ({ at, which }, model, { queues }) => {
  const one = pick(model.ready, which);
  if (one === undefined) return;
  const count = await queues[at].adjust({ kind: "hasten", id: one.id }, model.now);
  if (count > 0) assert.ok(!model.isHeld(one), "a job that is leased is left alone");
  else
    assert.ok(
      one.attempts === 0 || one.due <= model.now || one.lease !== undefined,
      "what waits for its next attempt is due now",
    );
  if (count > 0) Object.assign(one, { due: Math.min(one.due, model.now), late: Math.min(one.late, model.now) });
});

const rehoming = steps(
  "rehome",
  fc.record({ at: instance, from: endpoint, to: endpoint, limit: fc.integer({ min: 1, max: 4 }) }),
  async (given, model, { queues }) => {
    const { from, to, limit } = given;
    if (from === to) return;
    const which = [...model.jobs.values()].filter((one) => one.endpoint === from).slice(0, limit);
    const ids = which.map(({ id }) => id);
    assert.is(await queues[given.at].adjust({ kind: "rehome", from, to, ids }, model.now), ids.length);
    for (const one of which) one.endpoint = to;
  },
);

export const jobSteps = [
  ...[adding, adding, taking, taking, takingAll, takingTwice, acking, acking, acking, ackingBeside, ackingBeside],
  ...[renewing, redirecting, replaying, replaying, dropping, hastening, rehoming],
];
