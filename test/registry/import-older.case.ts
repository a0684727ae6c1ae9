/** Imports of what was crawled before the registry's own crawls, on both databases. */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createRegistryData } from "../../runtime/registry/data.js";
import { exportRegistry } from "../../runtime/registry/transfer/export.js";
import { importRegistry } from "../../runtime/registry/transfer/import.js";
import { crawl, type Engine, entry, failed, NOW, OTHER, property, SELLER } from "./data-fixture.js";

const DOMAIN = "news.example";
const HOUR = 3_600_000;

/** The publisher named two agents, in a registry that crawled it an hour earlier. */
const older = (at = NOW - HOUR) => crawl(DOMAIN, { agents: [entry(SELLER), entry(OTHER)] }, { at });

export function olderImportCase(engine: Engine): void {
  const test = suite(`older imports on ${engine.name}`);
  test.after(() => engine.stop());

  /** Two registries, of which one exports to the other. */
  async function registries(now = NOW) {
    const [from, to] = [await engine.open(), await engine.open()];
    const [theirs, ours] = [from, to].map((store) => createRegistryData(store, { now: () => now }));
    const lines = async (): Promise<string[]> => {
      const all: string[] = [];
      for await (const line of exportRegistry(from)) all.push(line);
      return all;
    };
    const named = async (): Promise<readonly string[]> =>
      (await ours!.lookupPublisher(DOMAIN)).authorized_agents.map(({ url }) => url).sort();
    const taken = async () => importRegistry(to, await lines(), { now: () => now });
    return { theirs: theirs!, ours: ours!, taken, named };
  }

  test("an agent that a publisher has let go is not named again by what was exported before", async () => {
    const { theirs, ours, taken, named } = await registries();
    await theirs.applyCrawl(older());
    const content = { properties: [property("h")], agents: [], genres: [], genreTaxonomy: null, lastUpdated: null };
    await theirs.putHostedFile(DOMAIN, { file: { properties: [] }, content: { ...content, others: [] } });
    await ours.applyCrawl(crawl(DOMAIN, { agents: [entry(SELLER)] }));
    const before = (await ours.lookupPublisher(DOMAIN)).authorized_agents;
    const { outdated, publishers, hosted } = await taken();
    assert.equal({ outdated, publishers, hosted }, { outdated: 1, publishers: 1, hosted: 1 });
    assert.equal(await named(), [SELLER]);
    assert.equal((await ours.lookupPublisher(DOMAIN)).authorized_agents, before);
    assert.ok(await ours.hostedFile(DOMAIN), "what no crawl finds is taken");
  });

  test("what is known of a publisher that has taken its file away since stays as it is", async () => {
    const { theirs, ours, taken } = await registries();
    await theirs.applyCrawl(older());
    await ours.applyCrawl(crawl(DOMAIN, { agents: [entry(SELLER)] }, { at: NOW - 2 * HOUR }));
    await ours.applyCrawl(failed(DOMAIN, "absent", 404));
    const before = await ours.lookupPublisher(DOMAIN);
    assert.is((await taken()).outdated, 1);
    assert.equal(await ours.lookupPublisher(DOMAIN), before);
  });

  test("what was crawled later elsewhere, or could not be reached here since, is taken", async () => {
    const later = await registries();
    await later.theirs.applyCrawl(older(NOW));
    await later.ours.applyCrawl(crawl(DOMAIN, { agents: [entry(SELLER)] }, { at: NOW - HOUR }));
    assert.is((await later.taken()).outdated, 0);
    assert.equal(await later.named(), [OTHER, SELLER].sort());
    const unreached = await registries();
    await unreached.theirs.applyCrawl(older());
    await unreached.ours.applyCrawl(failed(DOMAIN, "unreachable", null));
    assert.is((await unreached.taken()).outdated, 0);
    assert.equal(await unreached.named(), [OTHER, SELLER].sort());
  });

  test.run();
}
