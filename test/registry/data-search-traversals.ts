/** Pages of a search while data changes, against a model. */
import fc from "fast-check";
import * as assert from "uvu/assert";
import { scoreOf } from "../../runtime/registry/profile.js";
import type { RegistryData, SearchFilters } from "../../runtime/registry/types.js";
import { agent, crawl, NOW } from "./data-fixture.js";
import { type Case, inventory, names, pageOf, register, type Searched, urlOf } from "./data-search-fixture.js";

/** What may happen to one of the agents between two pages. */
type Event = { readonly name: number; readonly count: number | null };

const event = fc.record({
  name: fc.integer({ min: 0, max: 6 }),
  // Few different counts: ties are the hard part. Null: the publisher drops the agent.
  count: fc.option(fc.integer({ min: 0, max: 3 }), { freq: 4 }),
});

const apply = async (data: RegistryData, { name, count }: Event): Promise<unknown> =>
  data.applyCrawl(count === null ? crawl(`p${name}.example`, {}) : inventory(name, count));

const matches = (filters: SearchFilters, count: number | null | undefined): boolean =>
  count != null &&
  (filters.tags === undefined || (count > 0 && filters.tags.some((tag) => tag === "all" || tag === `t${count % 3}`))) &&
  (filters.channels === undefined || count > 0) &&
  count >= (filters.min_properties ?? 0);

/** A traversal as it went. */
interface Traversal {
  readonly seen: readonly number[];
  /** Who matched at every moment. */
  readonly throughout: ReadonlySet<number>;
  /** What each agent had when it began. */
  readonly start: ReadonlyMap<number, number | null>;
}

/** Reads page by page, by two instances in turn; what happens between them is written by the other one. */
async function traversed(
  [data, other]: readonly [RegistryData, RegistryData],
  { before, between, limit, filters }: Traversing,
): Promise<Traversal> {
  for (const one of before) await apply(data, one);
  // The model: who matched at every moment, in the order of the beginning.
  const start = new Map(before.map(({ name, count }) => [name, count]));
  const throughout = new Set([...start].filter(([, count]) => matches(filters, count)).map(([name]) => name));
  const seen: number[] = [];
  let cursor: string | null = null;
  for (let at = 0; ; at++) {
    const page = await pageOf(at % 2 === 0 ? data : other, filters, limit, cursor);
    seen.push(...names(page.results).map(Number));
    if (page.cursor === null) return { seen, throughout, start };
    cursor = page.cursor;
    for (const one of between[at] ?? []) {
      await apply(at % 2 === 0 ? other : data, one);
      if (!matches(filters, one.count)) throughout.delete(one.name);
    }
  }
}

interface Traversing {
  readonly before: readonly Event[];
  readonly between: readonly (readonly Event[])[];
  readonly limit: number;
  readonly filters: SearchFilters;
}

function checkTraversal({ seen, throughout, start }: Traversal): void {
  assert.is(new Set(seen).size, seen.length, `nobody comes twice: ${seen}`);
  const missing = [...throughout].filter((name) => !seen.includes(name));
  assert.equal(missing, [], "who matched throughout came");
  const rank = (name: number): [number, string] => [-scoreOf(start.get(name)!, false), urlOf(name)];
  const expected = [...seen].sort((a, b) => {
    const [[x, u], [y, v]] = [rank(a), rank(b)];
    return x - y || (u < v ? -1 : 1);
  });
  assert.ok(
    seen.every((name) => start.get(name) != null),
    "who came later is in no page",
  );
  assert.equal(seen, expected, "the order is that of the beginning");
}

const traversing = fc.record<Traversing>({
  before: fc.array(event, { maxLength: 12 }),
  between: fc.array(fc.array(event, { maxLength: 6 }), { minLength: 3, maxLength: 8 }),
  limit: fc.integer({ min: 1, max: 2 }),
  filters: fc.constantFrom<SearchFilters>(
    {},
    { tags: ["all"] },
    { tags: ["t1", "t2"], min_properties: 1 },
    { channels: ["display"] },
  ),
});

/** Came, went and came again, all after the first page: it was once taken for one that had been there. */
const cameAgain: Traversing = {
  before: [
    { name: 0, count: 0 },
    { name: 2, count: 0 },
  ],
  between: [[1, null, 1].map((count) => ({ name: 1, count: count === null ? null : 0 })), [], []],
  limit: 1,
  filters: {},
};

/** Pages while data changes. */
export function traversals(test: Case, { engine, search, opened }: Searched): void {
  test("a traversal neither skips nor repeats, whatever changes between its pages", async () => {
    const run = fc.asyncProperty(traversing, async (one) => {
      const data = await opened.open({ now: () => NOW });
      const other = await opened.again({ now: () => NOW });
      await register(
        data,
        Array.from({ length: 7 }, (_, name) => agent(urlOf(name))),
      );
      checkTraversal(await traversed([data, other], one));
    });
    const numRuns = engine.name === "sqlite" && search !== "parts" ? 150 : 25;
    await fc.assert(run, { numRuns, endOnFailure: false, examples: [[cameAgain]] });
  });
}
