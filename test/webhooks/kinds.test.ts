/** Every kind of event of every release of the corpus, from the sender to the receiver's handler; `./run judge events` for all. */
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { cellsOf } from "../support/cells.js";
import { publishedReleases } from "../support/corpus.js";
import { judgeCommand } from "../support/judges.js";
import { judgeExamples } from "./examples.js";
import { judgeKind, judgeTask, kindsOf, laterTools } from "./kinds.js";
import { openWorld } from "./world.js";

const folders = new Map(publishedReleases().map((folder) => [path.basename(folder), folder]));

for (const name of cellsOf(judgeCommand("events"), [...folders.keys()], 1)) {
  test(`${name}: every kind is built, valid, verified and parsed, and so is every example`, async () => {
    const folder = folders.get(name)!;
    const world = await openWorld(folder);
    try {
      const faults: string[] = [];
      for (const event of kindsOf(world.release)) {
        const fault = await judgeKind(world, event);
        if (fault !== undefined) faults.push(`${event.kind}: ${fault}`);
      }
      for (const tool of laterTools(world.release)) {
        const fault = await judgeTask(world, tool);
        if (fault !== undefined) faults.push(`task of ${tool}: ${fault}`);
      }
      const examples = await judgeExamples(world, folder);
      assert.equal([...faults, ...examples.faults], []);
      assert.ok(examples.count > 0);
      console.log(
        `${name}: ${kindsOf(world.release).length} kinds, ${laterTools(world.release).length} tools, ${examples.count} examples`,
      );
    } finally {
      await world.close();
    }
  });
}

test.run();
