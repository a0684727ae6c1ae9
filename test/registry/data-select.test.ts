/** The index alone, with agents enough for its bitmaps, against a plain filter and sort. */
import fc from "fast-check";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { byCodePoint } from "../../runtime/registry/model.js";
import { scoreOf } from "../../runtime/registry/profile.js";
import { AgentIndex, compareKeys, type IndexedProfile, type Key } from "../../runtime/registry/search/agent-index.js";
import { Posting } from "../../runtime/registry/search/posting.js";
import { Scratch, select } from "../../runtime/registry/search/select.js";
import { SEARCH_DIMENSIONS, type SearchFilters } from "../../runtime/registry/types.js";
import { numbers } from "../support/random.js";

const test = suite("registry search index");
const AGENTS = 3_000;
/** So little that each way to find a page is gone: looking up, walking, and walking on. */
const EFFORT = { few: 10, walkedFirst: 20 };

/** Value `v0` is with nearly all, `v1` with some, `v2` with few, `v3` with hardly any. */
const shares = [0.9, 0.3, 0.02, 0.001];

function profile(agent: number, random: () => number, version: number): IndexedProfile {
  const propertyCount = Math.floor(random() ** 4 * 40);
  const hasTmp = random() < 0.2;
  return {
    agent,
    url: `https://a${agent}.example/`,
    registered: random() < 0.8,
    score: scoreOf(propertyCount, hasTmp),
    propertyCount,
    publisherCount: 1,
    hasTmp,
    taxonomy: random() < 0.5 ? null : "t",
    lists: SEARCH_DIMENSIONS.map(() => shares.flatMap((share, value) => (random() < share ? [`v${value}`] : []))),
    updatedAt: version,
    born: 1,
  };
}

const plainly = (profiles: Iterable<IndexedProfile>, filters: SearchFilters, discovered: boolean): string[] =>
  [...profiles]
    .filter(
      (one) =>
        (discovered || one.registered) &&
        (filters.has_tmp !== true || one.hasTmp) &&
        one.propertyCount >= (filters.min_properties ?? 0) &&
        SEARCH_DIMENSIONS.every(
          (name, at) => !filters[name] || filters[name].some((value) => one.lists[at]!.includes(value)),
        ),
    )
    .sort(compareKeys)
    .map(({ url }) => url);

function traverse(
  index: AgentIndex,
  filters: SearchFilters,
  limit: number,
  discovered: boolean,
  scratch: Scratch,
): string[] {
  const urls: string[] = [];
  let after: Key | undefined;
  for (;;) {
    const hits = select(index, { filters, after, seq: Number.MAX_SAFE_INTEGER, limit, discovered }, scratch, EFFORT);
    urls.push(...hits.map(({ key }) => key.url));
    const last = hits.at(-1);
    if (last === undefined || hits.length < limit) return urls;
    after = last.key;
  }
}

const values = fc.uniqueArray(fc.constantFrom("v0", "v1", "v2", "v3", "never"), { minLength: 1, maxLength: 3 });
const filters = fc
  .record(
    {
      channels: values,
      tags: values,
      markets: values,
      format_kinds: values,
      has_tmp: fc.boolean(),
      min_properties: fc.integer({ min: 0, max: 30 }),
    },
    { requiredKeys: [] },
  )
  .map((given) => given as SearchFilters);

test("every search finds what a filter and a sort find, before and after changes", () => {
  const random = numbers(5);
  const index = new AgentIndex();
  const scratch = new Scratch();
  const all = new Map<number, IndexedProfile>();
  for (let agent = 1; agent <= AGENTS; agent++) all.set(agent, profile(agent, random, 1));
  index.load([...all.values()]);
  index.sort();
  let version = 1;
  const change = (): void => {
    version += 1;
    const changed = Array.from({ length: 1 + Math.floor(random() * 200) }, () => Math.ceil(random() * AGENTS * 1.1));
    const gone = [...new Set(Array.from({ length: 20 }, () => Math.ceil(random() * AGENTS)))];
    const fresh = new Map(
      [...new Set(changed)]
        .filter((agent) => !gone.includes(agent))
        .map((agent) => [agent, profile(agent, random, version)]),
    );
    index.apply([...fresh.values()], gone);
    for (const agent of gone) all.delete(agent);
    for (const [agent, one] of fresh) all.set(agent, one);
  };
  fc.assert(
    fc.property(
      filters,
      fc.constantFrom(7, 50, 201),
      fc.boolean(),
      fc.boolean(),
      (asked, limit, discovered, changes) => {
        if (changes) change();
        assert.equal(traverse(index, asked, limit, discovered, scratch), plainly(all.values(), asked, discovered));
        assert.is(index.size, all.size);
      },
    ),
    { numRuns: 300, endOnFailure: true },
  );
  for (const [agent, one] of all) {
    const { agent: _, ...kept } = one;
    assert.equal(index.read(index.slotOf(agent)!), kept, "a profile is read as it was written");
  }
});

test("a posting holds what was added and not taken away, in either form", () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 999 }), { maxLength: 600 }),
      fc.constantFrom(1_000, 100_000),
      (slots, capacity) => {
        const posting = new Posting();
        const held = new Set<number>();
        for (const slot of slots) {
          if (held.has(slot)) posting.delete(slot);
          else posting.add(slot, capacity);
          if (!held.delete(slot)) held.add(slot);
        }
        const words = new Uint32Array(Math.ceil(capacity / 32));
        posting.unionInto(words);
        const found: number[] = [];
        for (let slot = 0; slot < capacity; slot++) if (words[slot >>> 5]! & (1 << (slot & 31))) found.push(slot);
        assert.equal(
          found,
          [...held].sort((a, b) => a - b),
        );
        assert.is(posting.size, held.size);
      },
    ),
    { numRuns: 100 },
  );
});

test("ties are ordered by URL, byte by byte", () => {
  const index = new AgentIndex();
  const urls = [
    "https://b.example/Z",
    "https://b.example/a",
    "https://b.example/",
    "https://B1.example/",
    "https://b.example/%C3%A9",
  ];
  const random = numbers(1);
  const same = urls.map((url, at) => ({ ...profile(at + 1, random, 1), url, score: 0.5, registered: true }));
  index.load(same);
  index.sort();
  const found = select(
    index,
    { filters: {}, after: undefined, seq: Number.MAX_SAFE_INTEGER, limit: 10, discovered: true },
    new Scratch(),
  );
  assert.equal(
    found.map(({ key }) => key.url),
    urls.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))),
  );
  assert.equal(
    [...urls].sort(byCodePoint),
    urls.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))),
  );
});

test.run();
