/** Steps of a model of a queue: what ends where it waits, endpoints that rest, and the clock. */
import fc from "fast-check";
import * as assert from "uvu/assert";
import { ago, endpoint, instance, other, type Real, soon, steps } from "./model-steps.js";
import { MODEL_LEASE, type ModelJob, type QueueModel } from "./queue-model.js";

/** Jobs of an endpoint end where they wait: those that have to be, and of others no more than that many. */
async function ending(
  model: QueueModel,
  { queues }: Real,
  which: readonly ModelJob[],
  state: "dead" | "expired",
  count: number,
): Promise<void> {
  const surely = which.filter((one) => !model.mayBeHeld(one)).length;
  assert.ok(count >= surely && count <= which.length, `${count} ended, of ${surely} to ${which.length}`);
  let left = count;
  for (const one of which) {
    if ((await queues[0].get(one.id))!.state === "ready") continue;
    model.ended(one, state);
    left -= 1;
  }
  assert.is(left, 0, "as many as were told");
}

const waitingAt = (model: QueueModel, name: string): ModelJob[] => model.ready.filter((one) => one.endpoint === name);
const unattempted = ({ attempts, firstAt }: ModelJob): boolean => attempts === 0 || firstAt === null;

const expiring = steps("expire", fc.record({ at: instance, endpoint, ago }), async (given, model, real) => {
  const before = model.now - given.ago;
  const count = await real.queues[given.at].expire(given.endpoint, before, "waited");
  const which = waitingAt(model, given.endpoint).filter(
    (one) => unattempted(one) && one.createdAt <= before && !model.isHeld(one),
  );
  await ending(model, real, which, "expired", count);
});

const deadLettering = steps("give up", fc.record({ at: instance, endpoint, ago }), async (given, model, real) => {
  const before = model.now - given.ago;
  const count = await real.queues[given.at].deadLetter(given.endpoint, before, "unreachable");
  const which = waitingAt(model, given.endpoint).filter(
    (one) => !unattempted(one) && one.firstAt! <= before && !model.isHeld(one),
  );
  await ending(model, real, which, "dead", count);
});

const expiringBeyond = steps(
  "expire beyond",
  fc.record({ at: instance, endpoint, keep: fc.nat(4) }),
  async (given, model, real) => {
    const all = waitingAt(model, given.endpoint);
    const which = all.filter((one) => unattempted(one) && !model.isHeld(one));
    const surely = which.filter((one) => !model.mayBeHeld(one));
    const excess = Math.max(0, all.length - given.keep);
    const count = await real.queues[given.at].expireBeyond(given.endpoint, given.keep, "too many");
    assert.ok(
      count >= Math.min(excess, surely.length) && count <= Math.min(excess, which.length),
      `${count} are too many of ${excess}`,
    );
    let left = count;
    for (const one of which) {
      if ((await real.queues[0].get(one.id))!.state === "ready") continue;
      model.ended(one, "expired");
      left -= 1;
    }
    assert.is(left, 0, "as many as were told");
  },
);

const stopping = steps("stop", endpoint, async (name, model, { queues }) => {
  await queues[0].stop(name, model.now);
  model.endpoint(name).stopped = true;
  assert.equal(await queues[1].stopped([name]), [name]);
});

const resuming = steps(
  "resume",
  fc.record({ at: instance, endpoint }),
  async ({ at, endpoint: name }, model, { queues }) => {
    const resumed = await queues[at].resume(name);
    const answer = model.resumed(name);
    if (answer !== undefined) assert.is(resumed, answer);
    if (resumed) Object.assign(model.endpoint(name), { resumedAt: model.now, mayBeForgotten: false });
  },
);

const pausing = steps(
  "pause",
  fc.record({ at: instance, endpoint, in: soon, failing: fc.boolean(), ago }),
  async (given, model, { queues }) => {
    const began = model.now - given.ago;
    const note = { pausedUntil: model.now + given.in, failingSince: given.failing ? began : null, began };
    const noted = await queues[given.at].pause(given.endpoint, note);
    model.paused(given.endpoint, note, noted);
    assert.equal(noted, await queues[other(given.at)].health(given.endpoint), "what is noted now");
  },
);

const recovering = steps(
  "recover",
  fc.record({ at: instance, endpoint, in: soon }),
  async (given, model, { queues }) => {
    const until = model.now + given.in;
    await queues[given.at].recover(given.endpoint, { until, now: model.now });
    model.recovered(given.endpoint, until);
  },
);

const removing = steps(
  "remove",
  fc.record({ at: instance, ago, keep: fc.nat(3), evicts: fc.boolean() }),
  async (given, model, { queues }) => {
    const { kept } = model;
    const before = model.now - given.ago;
    const removed = await queues[given.at].removeKept(
      given.evicts
        ? { kind: "evict", keep: given.keep, limit: 100, ownerOf: (name) => name }
        : { kind: "prune", before, limit: 100 },
    );
    const expected = given.evicts
      ? Math.max(0, kept.length - given.keep)
      : kept.filter((one) => one.due < before).length;
    assert.is(removed, expected);
    const left = new Set((await queues[0].list()).map(({ id }) => id));
    for (const one of kept) if (!left.has(one.id) && (given.evicts || one.due < before)) model.jobs.delete(one.id);
  },
);

const passing = steps("pass", fc.constantFrom(1, 1_000, MODEL_LEASE / 2, MODEL_LEASE), (ms, _, real) => real.pass(ms));

const settingBack = steps("set back", fc.constantFrom(1_000, MODEL_LEASE, 3_600_000), async (ms, model, real) => {
  model.clock.at -= ms;
  await real.queues[0].pull(model.now, model.now);
  model.setBack(ms, real.heldBy);
});

export const endingSteps = [
  ...[expiring, deadLettering, expiringBeyond, stopping, resuming, pausing, recovering, removing],
  ...[passing, passing, settingBack],
];
