/** Large files are worked out in parts, so that a process goes on answering; what they change is seen at once or not at all. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { crawlDomain } from "../../runtime/registry/crawl/crawl.js";
import { preparedCrawl } from "../../runtime/registry/crawl-apply.js";
import { createRegistryData } from "../../runtime/registry/data.js";
import { context, file, property as filedProperty } from "./crawl-fixture.js";
import { Origins } from "./crawl-world.js";
import { crawl, entry, NOW, property, SELLER, sqliteEngine } from "./data-fixture.js";

/**
 * Counts turns of the event loop that others have. Between two points that only memory lies between, their number says
 * whether the work was put off; where a file, a socket or a timer is waited for, it says nothing.
 */
function countTurns(each: () => void = () => undefined): { now: () => number; stop: () => void } {
  let turns = 0;
  let over = false;
  const turn = (): void => {
    if (over) return;
    turns += 1;
    each();
    setImmediate(turn);
  };
  setImmediate(turn);
  return {
    now: () => turns,
    stop: () => {
      over = true;
    },
  };
}

const of = (name: string, count: number) =>
  crawl("news.example", {
    properties: Array.from({ length: count }, (_, index) => property(`${name}${index}`)),
    agents: [entry(SELLER)],
  });

test("a large file leaves a turn to others before and after its rows are made, a small one none", async () => {
  const engine = sqliteEngine();
  const store = await engine.open();
  const turns = countTurns();
  const during = async (name: string, count: number): Promise<number> => {
    const before = turns.now();
    await preparedCrawl(store.database, of(name, count), NOW);
    return turns.now() - before;
  };
  assert.is(await during("small", 10), 0);
  assert.ok((await during("large", 2_000)) >= 2);
  await createRegistryData(store).applyCrawl(of("large", 2_000));
  assert.is(await during("large", 2_000), 1, "one that is as before makes no rows");
  turns.stop();
  await engine.stop();
});

test("nobody sees half of a large file", async () => {
  const engine = sqliteEngine();
  const data = createRegistryData(await engine.open());
  await data.applyCrawl(of("small", 10));
  const seen: Promise<number>[] = [];
  const looks = countTurns(
    () => void seen.push(data.lookupPublisher("news.example").then((one) => one.properties.length)),
  );
  await data.applyCrawl(of("large", 900));
  looks.stop();
  assert.ok(seen.length > 0);
  assert.equal(
    [...new Set(await Promise.all(seen))].filter((count) => count !== 10 && count !== 900),
    [],
  );
  assert.is((await data.lookupPublisher("news.example")).properties.length, 900);
  await engine.stop();
});

test("a large file is parsed, read and kept in different turns", async () => {
  const origins = new Origins();
  const turns = countTurns();
  /** Turns between what came of the origin and the look at who is revoked, and from there to the rule for what was read. */
  const turnsFor = async (count: number): Promise<[read: number, judged: number]> => {
    const properties = Array.from({ length: count }, (_, index) => filedProperty({ property_id: `p${index}` }));
    const body = Buffer.from(JSON.stringify(file({ properties })));
    const at: number[] = [];
    const note = (): void => void at.push(turns.now());
    origins.answers.set("news.example/adagents.json", async () => {
      note();
      return { ok: true, status: 200, headers: {}, body, truncated: false, url: "https://news.example/x" };
    });
    const given = context({ fetch: origins.fetch });
    await crawlDomain(
      {
        ...given,
        revokedBy: async (host) => {
          note();
          return given.revokedBy(host);
        },
        file: () => {
          note();
          return undefined;
        },
      },
      "news.example",
    );
    assert.is(at.length, 3, String(at));
    return [at[1]! - at[0]!, at[2]! - at[1]!];
  };
  assert.equal(await turnsFor(10), [0, 0]);
  const [read, judged] = await turnsFor(3_000);
  assert.ok(read >= 1 && judged >= 1, `${read} and ${judged} turns`);
  turns.stop();
});

test.run();
