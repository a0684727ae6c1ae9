/**
 * Whatever is done to a queue in whatever order: it keeps what it promises, as a model of it does. One body, run against each
 * engine. The commit chooses the steps; what fails tells its seed and them; `ADBIND_MODEL_RUNS` runs as many, `ADBIND_MODEL_SEED` chooses
 * instead of the commit.
 */
import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { openQueue } from "../../runtime/queue/index.js";
import { seedOf } from "../support/cells.js";
import { endingSteps } from "./model-endings.js";
import { FEW_TAKES, jobSteps } from "./model-jobs.js";
import { compare, type Real, takeOnce } from "./model-steps.js";
import { ENDPOINTS, MODEL_LEASE, QueueModel } from "./queue-model.js";
import { NOW, type QueueCase } from "./queue-suite.js";

export interface ModelRuns {
  /** Sequences of steps. */
  readonly runs: number;
  /** Brings the ends of a topic's leases nearer, by milliseconds, where the database's own clock judges them. */
  readonly leasesNearer?: string;
}

const { ADBIND_MODEL_RUNS: givenRuns, ADBIND_MODEL_SEED: givenSeed } = process.env;

/** Nothing waits for ever: once nothing holds it, all that is ready is leased, and ends. */
async function drain(model: QueueModel, real: Real): Promise<void> {
  for (const name of ENDPOINTS) {
    const resumed = await real.queues[0].resume(name);
    if (model.resumed(name) === false) assert.not.ok(resumed);
  }
  await real.pass(MODEL_LEASE * 100);
  for (let looks = 0, vain = 0; model.ready.length > 0; looks++) {
    const at = looks % 2 === 0 ? 0 : 1;
    const jobs = await takeOnce(model, real, { at, limit: 50, room: 50, likely: looks % 3 === 0 });
    vain = jobs.length > 0 ? 0 : vain + 1;
    assert.ok(vain < FEW_TAKES, `never leased: ${model.ready.map(({ key }) => key)}`);
    const results = await real.queues[at].ack(
      jobs.map((one) => ({ job: one, outcome: { kind: "done" } })),
      model.now,
    );
    assert.equal(
      results,
      jobs.map(() => true),
    );
    for (const one of jobs) model.acked(one, { kind: "done" });
  }
  await compare(model, real);
}

const commands = fc.commands([...jobSteps, ...endingSteps], { size: "large", maxCommands: 60 });

export function modelCase(of: QueueCase, { runs, leasesNearer }: ModelRuns): void {
  test(`${of.name}: whatever is done to a queue, it keeps what it promises`, async () => {
    await of.reset();
    const [here, there] = [await of.open(), await of.open()];
    let topics = 0;
    const keepsPromises = fc.asyncProperty(commands, async (all) => {
      topics += 1;
      const topic = `model ${topics}`;
      const clock = { at: NOW };
      const options = { now: () => clock.at, leaseMs: MODEL_LEASE };
      const real: Real = {
        queues: [await openQueue(here, topic, options), await openQueue(there, topic, options)],
        leased: [],
        heldBy: leasesNearer === undefined ? "clock" : "database",
        async pass(ms) {
          clock.at += ms;
          if (leasesNearer !== undefined) await here.query((q) => q.run(leasesNearer, [ms, topic]));
        },
      };
      const model = new QueueModel(clock);
      await fc.asyncModelRun(() => ({ model, real }), all);
      await drain(model, real);
      for (const queue of real.queues) await queue.close();
    });
    const seed = Number(givenSeed ?? seedOf(`model of ${of.name}`));
    await fc.assert(keepsPromises, { numRuns: Number(givenRuns ?? runs), includeErrorInReport: true, seed });
    for (const database of [here, there]) await database.close();
  });
}
