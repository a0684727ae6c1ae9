/** Large files are worked out in parts, so that a process goes on answering; what they change is seen at once or not at all. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { crawlDomain } from "../../runtime/registry/crawl/crawl.js";
import { createRegistryData } from "../../runtime/registry/data.js";
import { context, file, property as filedProperty } from "./crawl-fixture.js";
import { Origins } from "./crawl-world.js";
import { crawl, entry, property, SELLER, sqliteEngine } from "./data-fixture.js";

/** Turns of the event loop that others have meanwhile. */
async function turnsDuring(work: () => Promise<unknown>, each: () => void = () => undefined): Promise<number> {
  let turns = 0;
  let over = false;
  const turn = (): void => {
    if (over) return;
    turns += 1;
    each();
    setImmediate(turn);
  };
  setImmediate(turn);
  await work();
  over = true;
  return turns;
}

test("a large file leaves turns to others before its transaction, and nobody sees half of it", async () => {
  const engine = sqliteEngine();
  const data = createRegistryData(await engine.open());
  const of = (name: string, count: number) =>
    crawl("news.example", {
      properties: Array.from({ length: count }, (_, index) => property(`${name}${index}`)),
      agents: [entry(SELLER)],
    });
  const small = await turnsDuring(() => data.applyCrawl(of("small", 10)));
  const seen: Promise<number>[] = [];
  const look = (): void => void seen.push(data.lookupPublisher("news.example").then((one) => one.properties.length));
  const large = await turnsDuring(() => data.applyCrawl(of("large", 2_000)), look);
  assert.ok(large >= small + 2, `${large} turns, ${small} for a small one`);
  assert.equal(
    [...new Set(await Promise.all(seen))].filter((count) => count !== 10 && count !== 2_000),
    [],
  );
  const again = await turnsDuring(() => data.applyCrawl(of("large", 2_000)));
  assert.ok(again < large, "one that is as before makes no rows");
  assert.is((await data.lookupPublisher("news.example")).properties.length, 2_000);
  await engine.stop();
});

test("a large file is parsed, read and kept in different turns", async () => {
  const origins = new Origins();
  const turnsFor = (count: number): Promise<number> => {
    const properties = Array.from({ length: count }, (_, index) => filedProperty({ property_id: `p${index}` }));
    origins.answers.set("news.example/adagents.json", file({ properties }));
    return turnsDuring(() => crawlDomain(context({ fetch: origins.fetch }), "news.example"));
  };
  const small = await turnsFor(10);
  assert.ok((await turnsFor(3_000)) >= small + 2);
});

test.run();
