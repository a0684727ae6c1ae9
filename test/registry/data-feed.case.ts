/** The feed of changes on both databases: a reader's copy is what lookups say, however it was read. */
import * as assert from "uvu/assert";
import { cursorText, readCursor } from "../../runtime/registry/feed/cursor.js";
import type { FeedEvent, RegistryData, SnapshotRow } from "../../runtime/registry/types.js";
import { crawl, type Engine, entry, failed, OTHER, property, SELLER } from "./data-fixture.js";
import { DAY_MS, dataSuite } from "./data-suite.js";

/** A copy as the SDKs keep it: pairs with their authorization types. */
class Copy {
  readonly pairs = new Map<string, Set<string>>();
  readonly agents = new Set<string>();
  readonly told: string[] = [];
  cursor: string | undefined;

  apply({ event_type, payload, entity_id }: FeedEvent): void {
    const { agent_url, publisher_domain, authorization_type } = payload as Record<string, string | undefined>;
    const pair = `${publisher_domain} ${agent_url}`;
    this.told.push(`${event_type} ${entity_id}`);
    if (event_type === "authorization.granted")
      this.pairs.set(pair, (this.pairs.get(pair) ?? new Set()).add(authorization_type!));
    if (event_type === "authorization.revoked") {
      if (authorization_type === undefined) this.pairs.delete(pair);
      else this.pairs.get(pair)?.delete(authorization_type);
    }
    if (event_type === "agent.discovered" || event_type === "agent.profile_updated") this.agents.add(entity_id);
    if (event_type === "agent.removed") this.agents.delete(entity_id);
  }

  async follow(data: RegistryData, limit = 100, types?: readonly string[]): Promise<this> {
    for (;;) {
      const page = await data.feed({ cursor: this.cursor, limit, types });
      assert.ok(page.ok);
      for (const event of page.value.events) this.apply(event);
      this.cursor = page.value.cursor ?? undefined;
      if (!page.value.has_more) return this;
    }
  }

  get shown(): [string, string[]][] {
    return [...this.pairs].map(([pair, types]): [string, string[]] => [pair, [...types].sort()]).sort();
  }
}

const ids = (propertyIds: string[]) => ({ authorizationType: "property_ids", propertyIds }) as const;
const tags = (propertyTags: string[]) => ({ authorizationType: "property_tags", propertyTags }) as const;
const two = [property("main", { tags: ["sport"] }), property("app")];

async function snapshot(data: RegistryData): Promise<SnapshotRow[]> {
  const rows: SnapshotRow[] = [];
  for (let at: { publisher: number; agent: number } | undefined = { publisher: 0, agent: 0 }; at !== undefined; ) {
    const part = await data.authorizationsAfter(at, ["adagents_json", "aao_hosted"]);
    rows.push(...part.rows);
    at = part.next;
  }
  return rows;
}

type Case = ReturnType<typeof dataSuite>;

function copies(test: Case): void {
  test("a copy follows grants, changes of type, and ends; one that begins late ends up the same", async ({ data }) => {
    const early = await new Copy().follow(data);
    assert.is(early.cursor, undefined, "nothing has changed yet");
    await data.applyCrawl(
      crawl("news.example", { properties: two, agents: [entry(SELLER, ids(["main"])), entry(OTHER, tags(["sport"]))] }),
    );
    await early.follow(data);
    assert.equal(early.shown, [
      [`news.example ${OTHER}`, ["property_tags"]],
      [`news.example ${SELLER}`, ["property_ids"]],
    ]);
    assert.equal([...early.agents].sort(), [OTHER, SELLER].sort());
    const before = early.told.length;
    await data.applyCrawl(
      crawl("news.example", {
        properties: two,
        agents: [entry(SELLER, tags(["sport"])), entry(OTHER, tags(["sport"]))],
      }),
    );
    await early.follow(data);
    assert.equal(early.shown[1], [`news.example ${SELLER}`, ["property_tags"]], "what it had before has ended");
    assert.not.ok(early.told.slice(before).some((line) => line.endsWith(OTHER) && line.startsWith("authorization")));
    await data.applyCrawl(crawl("news.example", { properties: two, agents: [entry(SELLER, tags(["sport"]))] }));
    for (const limit of [1, 2, 100]) {
      const late = await new Copy().follow(data, limit);
      assert.equal(late.shown, [[`news.example ${SELLER}`, ["property_tags"]]], `pages of ${limit}`);
      assert.equal([...late.agents], [SELLER]);
    }
    assert.equal((await early.follow(data)).shown, [[`news.example ${SELLER}`, ["property_tags"]]]);
    const end = early.told.length;
    await data.applyCrawl(crawl("news.example", { properties: two, agents: [entry(SELLER, tags(["sport"]))] }));
    assert.is((await early.follow(data)).told.length, end, "a file that is as it was is no change");
  });
}

function endings(test: Case): void {
  test("what nobody is told: claims, and what the hosted file says once the publisher's own is valid", async ({
    data,
  }) => {
    await data.putClaims(OTHER, [{ publisherDomain: "news.example", authorizedFor: null }]);
    const content = {
      agents: [entry(OTHER)],
      properties: two,
      genres: [],
      genreTaxonomy: null,
      lastUpdated: null,
      others: [],
    };
    await data.putHostedFile("news.example", { file: {}, content });
    const copy = await new Copy().follow(data);
    assert.equal(copy.shown, [[`news.example ${OTHER}`, ["publisher_properties"]]]);
    await data.applyCrawl(crawl("news.example", { properties: two, agents: [entry(SELLER)] }));
    assert.equal((await copy.follow(data)).shown, [[`news.example ${SELLER}`, ["publisher_properties"]]]);
    assert.equal(
      (await snapshot(data)).map(({ agent_url, evidence, property_id_slug }) => [
        agent_url,
        evidence,
        property_id_slug,
      ]),
      [[SELLER, "adagents_json", null]],
    );
  });
}

function claimed(test: Case): void {
  test("a claim whose time is over changes nothing of its publisher", async ({ data, clock }) => {
    const claim = entry(OTHER, { effectiveUntil: clock.at + DAY_MS });
    await data.applyCrawl(crawl("news.example", { agents: [entry(SELLER)] }));
    await data.applyCrawl(
      crawl("liar.example", {
        others: ["news.example", "nobody.example"].map((publisherDomain) => ({ publisherDomain, agent: claim })),
      }),
    );
    const copy = await new Copy().follow(data);
    const { length } = copy.told;
    clock.at += 2 * DAY_MS;
    assert.is(await data.recomputeEffect(), 2);
    await copy.follow(data);
    assert.equal(copy.told.slice(length), []);
  });
}

function dated(test: Case): void {
  test("time begins and ends authorizations in the feed too, and stale files end", async ({ data, clock }) => {
    const until = entry(SELLER, { effectiveFrom: clock.at + DAY_MS, effectiveUntil: clock.at + 2 * DAY_MS });
    await data.applyCrawl(crawl("news.example", { properties: two, agents: [until, entry(OTHER)] }));
    const copy = await new Copy().follow(data);
    assert.is(copy.shown.length, 1);
    clock.at += DAY_MS;
    await data.recomputeEffect();
    assert.is((await copy.follow(data)).shown.length, 2);
    clock.at += DAY_MS + 1;
    await data.recomputeEffect();
    assert.equal(
      (await copy.follow(data)).shown.map(([pair]) => pair),
      [`news.example ${OTHER}`],
    );
    clock.at += 8 * DAY_MS;
    await data.applyCrawl({ ...failed("news.example", "unreachable", null), crawledAt: clock.at });
    assert.equal(await data.endStale(clock.at - 7 * DAY_MS, 10), ["news.example"]);
    assert.equal((await copy.follow(data)).shown, []);
  });
}

function cursors(test: Case): void {
  test("kinds are chosen by pattern; the cursor moves on past the others", async ({ data }) => {
    await data.applyCrawl(crawl("news.example", { properties: two, agents: [entry(SELLER)] }));
    const copy = await new Copy().follow(data, 10, ["agent.*"]);
    assert.equal(copy.told, [`agent.discovered ${SELLER}`]);
    const none = await data.feed({ cursor: copy.cursor, limit: 10, types: ["authorization.*"] });
    assert.equal(none.ok && none.value.events, []);
    assert.equal((await new Copy().follow(data, 10, ["nothing.*"])).told, []);
  });

  test("a reader that stayed away too long is told so; one that reads everything is not", async ({ data, clock }) => {
    await data.applyCrawl(crawl("a.example", { properties: two, agents: [entry(SELLER)] }));
    const away = await new Copy().follow(data);
    await data.applyCrawl(crawl("b.example", { properties: two, agents: [entry(OTHER)] }));
    await data.applyCrawl(crawl("b.example", { properties: two, agents: [] }));
    clock.at += 91 * DAY_MS;
    assert.is(await data.forgetGone(), 1);
    assert.is(await data.forgetGone(), 0);
    assert.equal(await data.feed({ cursor: away.cursor, limit: 1 }), { ok: false, reason: "cursor_expired" });
    const late = await new Copy().follow(data, 1);
    assert.equal(late.shown, [[`a.example ${SELLER}`, ["publisher_properties"]]]);
    assert.equal(await data.feed({ cursor: "0".repeat(36), limit: 1 }), { ok: false, reason: "cursor_invalid" });
  });

  test("a reader of what this database has not come to yet is told to begin again", async ({ data }) => {
    await data.applyCrawl(crawl("a.example", { properties: two, agents: [entry(SELLER)] }));
    const { seq, cursor } = await data.feedEnd();
    const at = (place: number, since: number) => cursorText({ seq: place, since, kind: 0, number: 1 });
    const answers = async (text: string) => {
      const page = await data.feed({ cursor: text, limit: 10 });
      return page.ok || page.reason;
    };
    assert.equal(await Promise.all([cursor, at(seq, seq), at(seq, 0)].map(answers)), [true, true, true]);
    const ahead = [at(seq + 1, 0), at(seq, seq + 1), at(2 ** 36 - 1, 0)];
    assert.equal(await Promise.all(ahead.map(answers)), Array(3).fill("cursor_expired"));
  });

  test("ids sort as events do, and each leads on from itself", async ({ data }) => {
    for (const name of ["a", "b", "c"])
      await data.applyCrawl(
        crawl(`${name}.example`, { properties: two, agents: [entry(SELLER), entry(OTHER, ids(["main"]))] }),
      );
    const page = await data.feed({ limit: 100 });
    assert.ok(page.ok);
    const all = page.value.events.map(({ event_id }) => event_id);
    assert.equal([...all].sort(), all);
    assert.is(new Set(all).size, all.length);
    const rest = await data.feed({ cursor: all[3], limit: 100 });
    assert.equal(rest.ok && rest.value.events.map(({ event_id }) => event_id), all.slice(4));
    assert.is(readCursor(all[0]!)?.since, 0);
  });
}

function parts(test: Case): void {
  test("a snapshot names each property an agent may sell, and what one agent may sell is its part", async ({
    data,
  }) => {
    await data.applyCrawl(
      crawl("news.example", { properties: two, agents: [entry(SELLER, ids(["main"])), entry(OTHER)] }),
    );
    const rows = (await snapshot(data)).sort((a, b) => (a.agent_url > b.agent_url ? -1 : 1));
    assert.equal(
      rows.map(({ agent_url, property_id_slug, property_rid }) => [agent_url, property_id_slug, property_rid === null]),
      [
        [SELLER, "main", false],
        [OTHER, null, true],
      ],
    );
    const own = { sources: ["adagents_json"], limit: 10 } as const;
    assert.equal(await data.authorizationsOf(SELLER, own), [rows[0]]);
    assert.is(await data.authorizationsOf("https://nobody.example/", own), undefined);
  });

  test("properties come in pages, and pages of two files are not mixed", async ({ data }) => {
    const many = Array.from({ length: 7 }, (_, at) => property(`p${at}`));
    await data.applyCrawl(crawl("news.example", { properties: many, agents: [entry(SELLER)] }));
    const seen: (string | undefined)[] = [];
    let cursor: string | null | undefined;
    do {
      const page = await data.publisherPage("news.example", { limit: 3, ...(cursor && { cursor }) });
      assert.ok(page.ok);
      assert.is(page.value.properties_total, 7);
      seen.push(...page.value.properties.map(({ id }) => id));
      cursor = page.value.properties_cursor;
    } while (cursor);
    assert.equal(
      seen,
      many.map(({ id }) => id),
    );
    const first = await data.publisherPage("news.example", { limit: 3 });
    await data.applyCrawl(crawl("news.example", { properties: many.slice(1), agents: [entry(SELLER)] }));
    const old = first.ok ? first.value.properties_cursor! : "";
    assert.equal(await data.publisherPage("news.example", { cursor: old }), { ok: false, reason: "cursor_expired" });
    assert.equal(await data.publisherPage("news.example", { cursor: "x" }), { ok: false, reason: "cursor_invalid" });
    assert.is((await data.lookupPublisher("news.example")).properties_total, undefined);
  });

  test("a file with more properties than are kept says so", async ({ data }) => {
    const result = crawl("news.example", { properties: two, agents: [entry(SELLER)], propertiesDeclared: 250_000 });
    await data.applyCrawl(result);
    assert.equal((await data.lookupPublisher("news.example")).truncated, { declared: 250_000, kept: 2 });
    await data.applyCrawl(crawl("news.example", { properties: two, agents: [entry(OTHER)] }));
    assert.is((await data.lookupPublisher("news.example")).truncated, undefined);
  });
}

export function dataFeedCase(engine: Engine): void {
  const test = dataSuite(engine);
  for (const some of [copies, endings, claimed, dated, cursors, parts]) some(test);
  test.after(() => engine.stop());
  test.run();
}
