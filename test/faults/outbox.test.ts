import { test } from "uvu";
import * as assert from "uvu/assert";
import { cellsOf } from "../support/cells.js";
import { type Example, examples, isInstalled, runOutbox } from "./outbox-run.js";

test("applications are killed between their own write and the webhook's: both are there, or neither", async () => {
  for (const example of cellsOf("./run faults outbox", Object.keys(examples) as Example[], 2)) {
    if (!isInstalled(example)) {
      console.log(`# skipped: what ${example} needs is not installed; ./run test installs it`);
      continue;
    }
    const { faults, between, both, neither } = await runOutbox(example, 3);
    assert.equal(faults, [], example);
    assert.ok(between > 0 && both + neither >= 3, `${example}: ${between} between, ${both} both, ${neither} neither`);
  }
});

test.run();
