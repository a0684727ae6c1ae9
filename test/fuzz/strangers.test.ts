/** Several callers on one seller, and several accounts of one: what one does is nothing to the others. */
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { publishedRelease, versions } from "../behaviours/behaving-seller.js";
import { corpus } from "../support/corpus.js";
import { tempFolder } from "../support/release.js";
import { type HistoryPlan, type HistoryStep, historyTools, makeHistory } from "./seller-history.js";
import { answeredOtherwise, World } from "./seller-worlds.js";

const COUNT = 200;
const SEED = 20_261_128;
/** They read, and what they tell of is kept: others go on from it. */
const keeping = /^(get_products|get_signals|check_governance|build_creative|preview_creative|request_proposals|si_)/;

const folder = tempFolder();
let files = 0;

for (const version of versions) {
  const open = async () => World.open(await publishedRelease(version), path.join(folder, `${++files}.db`));
  async function historyOf(callers: readonly string[]): Promise<{ steps: readonly HistoryStep[]; world: World }> {
    const world = await open();
    const { word } = await publishedRelease(version);
    const plan: HistoryPlan = {
      count: COUNT,
      seed: SEED,
      callers,
      versions: [`${word}_version`, `${word}_major_version`],
    };
    const steps = await makeHistory(world, await historyTools(path.join(corpus, "releases", version), world), plan);
    await world.close();
    const answered = steps.filter(({ answer }) => !answer.failed).length;
    assert.ok(answered > COUNT / 4, `${answered} of ${COUNT} calls were answered`);
    return { steps, world };
  }
  async function checkAlone(steps: readonly HistoryStep[]): Promise<void> {
    const world = await open();
    assert.equal(await answeredOtherwise(world, steps), []);
    await world.close();
  }

  test(`${version}: callers are answered as if they were alone, and as if nothing had been refused, rehearsed or read`, async () => {
    const { steps, world } = await historyOf(["one", "two", "anonymous"]);
    await checkAlone(steps.filter(({ side }) => side === "one"));
    const changes = ({ call: { tool, args }, answer }: HistoryStep): boolean =>
      !answer.failed && args.dry_run !== true && (world.mutating.has(tool) || keeping.test(tool));
    await checkAlone(steps.filter(changes));
  });

  test(`${version}: an account of a caller is answered as if it were the only one`, async () => {
    const { steps } = await historyOf(["one"]);
    await checkAlone(steps.filter(({ side }) => side === steps[0]!.side));
  });
}

test.run();
