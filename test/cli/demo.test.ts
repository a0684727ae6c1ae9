/** The demo's market from end to end: what left a seller took effect once at the buyer, whatever the network did. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { type MarketPlan, openMarket } from "../../cli/demo/market.js";
import { tellStory } from "../../cli/demo/story.js";
import { cellsOf } from "../support/cells.js";
import { judgeCommand } from "../support/judges.js";
import { sharedPostgres } from "../support/postgres.js";

/** First of the ports used: another run on the same machine has others. */
const PORT = 20_000 + (process.pid % 500) * 20;

async function tell(plan: Pick<MarketPlan, "sellers" | "receivers" | "port" | "databases">): Promise<void> {
  const home = mkdtempSync(path.join(tmpdir(), "adbind-demo-"));
  const lines: string[] = [];
  const market = await openMarket({ ...plan, home, say: (line) => lines.push(line) });
  try {
    const { lost, rows } = await tellStory(market);
    const books = Object.fromEntries(rows);
    const told = [...lines, JSON.stringify(books)].join("\n");
    assert.is(lost, 0, told);
    assert.equal(
      [books["events sent"], books["effects applied twice"], books["forgeries refused"], books.lost],
      // The impairment is opened, and closed by the cancellation.
      [9, 0, "3 of 3", 0],
      told,
    );
    assert.ok(Number(books["duplicates dropped"]) >= 1 && Number(books["late ones passed over"]) >= 1, told);
    // Known already is kept too: of a receiver that died, or was slower than its sender waits, nobody heard the first answer.
    for (const event of ["working", "input-required", "completed", "impairment", "final report"])
      assert.match(told, new RegExp(`receiver +${event} +-> verified, (kept|known already)`), `${event}:\n${told}`);
  } finally {
    await market.close();
    rmSync(home, { recursive: true, force: true });
  }
}

const markets = {
  "one seller, one receiver, embedded stores": () => tell({ sellers: 1, receivers: 1, port: PORT }),
  "two sellers, three receivers and the registry on one PostgreSQL": onPostgres,
};

async function onPostgres(): Promise<void> {
  const postgres = await sharedPostgres();
  try {
    const [registry, receivers, ...sellers] = [
      await postgres.database(),
      await postgres.database(),
      await postgres.database(),
      await postgres.database(),
    ];
    await tell({ sellers: 2, receivers: 3, port: PORT, databases: { registry, receivers, sellers } });
  } finally {
    await postgres.stop();
  }
}

const names = Object.keys(markets) as (keyof typeof markets)[];
for (const name of cellsOf(judgeCommand("market"), names, 1))
  test(`a buyer finds a seller, buys over a network at its worst, and the books agree: ${name}`, markets[name]);

test.run();
