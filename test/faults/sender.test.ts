import { test } from "uvu";
import * as assert from "uvu/assert";
import { runFaults } from "./sender-run.js";

test("senders are killed in the middle of deliveries, and every event still has exactly one fate", async () => {
  const short = { kills: 6, senders: 2, tasks: 25, eventsFirst: 20, drainMs: 45_000 } as const;
  const ledgers = await Promise.all([
    runFaults({ ...short, engine: "sqlite" }),
    runFaults({ ...short, engine: "postgres" }),
  ]);
  for (const ledger of ledgers) {
    assert.equal(ledger.faults, [], ledger.engine);
    assert.ok(ledger.events >= short.eventsFirst, `${ledger.events} events`);
    assert.ok(ledger.delivered > 0 && ledger.dead > 0);
  }
});

test.run();
