/** The demo's market from end to end: what left a seller took effect once at the buyer, whatever the network did. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { type MarketPlan, openMarket } from "../../cli/demo/market.js";
import { tellStory } from "../../cli/demo/story.js";
import { sharedPostgres } from "../support/postgres.js";

async function tell(plan: Pick<MarketPlan, "sellers" | "receivers" | "port" | "postgres">): Promise<void> {
  const home = mkdtempSync(path.join(tmpdir(), "adbind-demo-"));
  const lines: string[] = [];
  const market = await openMarket({ ...plan, home, say: (line) => lines.push(line) });
  try {
    const { lost, rows } = await tellStory(market);
    const books = Object.fromEntries(rows);
    const told = lines.join("\n");
    assert.is(lost, 0, told);
    assert.equal(
      [books["events sent"], books["effects applied twice"], books["forgeries refused"], books.lost],
      [8, 0, "3 of 3", 0],
      told,
    );
    assert.ok(Number(books["duplicates dropped"]) >= 1 && Number(books["late ones passed over"]) >= 1, told);
    for (const event of ["working", "input-required", "completed", "impairment", "final report"])
      assert.match(told, new RegExp(`receiver +${event} +-> verified, kept, 200`), event);
  } finally {
    await market.close();
    rmSync(home, { recursive: true, force: true });
  }
}

test("a buyer finds a seller, buys over a network at its worst, and the books agree", () =>
  tell({ sellers: 1, receivers: 1, port: 19_100 }));

test("so they do with two sellers, three receivers and the registry on one PostgreSQL", async () => {
  const postgres = await sharedPostgres();
  try {
    const [registry, receivers, ...sellers] = [
      await postgres.database(),
      await postgres.database(),
      await postgres.database(),
      await postgres.database(),
    ];
    await tell({ sellers: 2, receivers: 3, port: 19_110, postgres: { registry, receivers, sellers } });
  } finally {
    await postgres.stop();
  }
});

test.run();
