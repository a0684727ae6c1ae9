/** Import and export on both databases: a round trip, going on after a crash, lines that cannot be taken. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { suite, type Test } from "uvu";
import * as assert from "uvu/assert";
import { inventory } from "../../bench/support/inventory.js";
import { AdbindError } from "../../runtime/errors.js";
import { createRegistryData } from "../../runtime/registry/data.js";
import { exportRegistry } from "../../runtime/registry/transfer/export.js";
import { importRegistry } from "../../runtime/registry/transfer/import.js";
import type { TransferLine } from "../../runtime/registry/transfer/lines.js";
import { parseLine } from "../../runtime/registry/transfer/parse-line.js";
import type { PostgresStore, SqliteStore } from "../../runtime/store/index.js";
import { fromSource } from "../runner/from-source.js";
import { type Engine, NOW, OTHER, SELLER } from "./data-fixture.js";
import { filled } from "./data-transfer-fixture.js";

type Store = SqliteStore | PostgresStore;

async function all(lines: AsyncIterable<string>): Promise<string[]> {
  const found: string[] = [];
  for await (const line of lines) found.push(line);
  return found;
}

const generated = (size: { agents: number; publishers: number; properties: number }): string[] =>
  [...inventory({ ...size, seed: 7 })].map((line) => JSON.stringify(line));

/** What a registry shows, whatever its rows are numbered. */
async function shown(store: Store): Promise<unknown> {
  const data = createRegistryData(store, { now: () => NOW });
  const page = await data.search({}, { limit: 200 });
  assert.ok(page.ok);
  return { lines: await all(exportRegistry(store)), results: page.value.results, stats: await data.stats() };
}

/** Of an answer what an earlier one had: members that came since are left out. */
function known(value: unknown, model: unknown): unknown {
  if (Array.isArray(value) && Array.isArray(model)) return value.map((one, at) => known(one, model[at]));
  if (typeof value !== "object" || value === null || typeof model !== "object" || model === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, one]) =>
      name in model ? [[name, known(one, (model as Record<string, unknown>)[name])]] : [],
    ),
  );
}

async function opened(context: { store: Store }, engine: Engine): Promise<void> {
  context.store = await engine.open();
}

function movedCase(test: Test<{ store: Store }>): void {
  test("what an earlier adbind exported comes in whole, and answers as it did there", async ({ store }) => {
    // Exported by commit 877350b from its own store, with what it answered then.
    const moved = (name: string): string => readFileSync(path.join(import.meta.dirname, "moved", name), "utf8");
    const lines = moved("inventory.ndjson").trimEnd().split("\n");
    await importRegistry(store, lines);
    const now = (): number => Date.UTC(2026, 2, 2, 10);
    const publicUrl = "https://registry.example";
    const data = createRegistryData(store, { now, publicUrl, searchDiscovered: true });
    const before = JSON.parse(moved("answers.json")) as {
      agents: object[];
      stats: object;
      publisher: { hosting: { hosted_url?: null } };
    };
    // Where the registry hosts no file it named null as the place of it.
    delete before.publisher.hosting.hosted_url;
    const page = await data.search({}, { limit: before.agents.length });
    assert.ok(page.ok);
    const agents = page.value.results.map(({ updated_at: _, ...rest }) => rest);
    assert.equal(agents, before.agents);
    // Who is named by nobody but itself was counted then, and is not found by anybody.
    assert.equal(await data.stats(), { ...before.stats, discovered_agents: 60 });
    const publisher = await data.lookupPublisher("news.example");
    // What an agent only claims was told as if the publisher had confirmed it.
    const agreed = publisher.authorized_agents.filter(({ source }) => source !== "agent_claim");
    assert.equal(known({ ...publisher, authorized_agents: agreed }, before.publisher), before.publisher);
    const again = await all(exportRegistry(store));
    assert.equal(
      again.map((line) => JSON.parse(line)),
      lines.map((line) => JSON.parse(line)),
    );
  });
}

type Case = Test<{ store: Store }>;

/** What comes out goes in. */
function roundTrips(test: Case, engine: Engine): void {
  test("everything comes through an export and an import", async ({ store }) => {
    const data = createRegistryData(store, { now: () => NOW });
    await filled(data);
    const first = await shown(store);
    const other = await engine.open();
    const result = await importRegistry(other, exportRegistry(store), { now: () => NOW });
    assert.equal([result.publishers, result.members, result.hosted, result.claims], [3, 1, 1, 1]);
    assert.equal(await shown(other), first);
    const again = createRegistryData(other, { now: () => NOW });
    assert.equal(await again.lookupPublisher("news.example"), await data.lookupPublisher("news.example"));
    assert.equal(await again.lookupPublisher("hosted.example"), await data.lookupPublisher("hosted.example"));
  });
}

/** What is done again. */
function repeats(test: Case): void {
  test("an export goes on after any of its lines", async ({ store }) => {
    await importRegistry(store, generated({ agents: 30, publishers: 250, properties: 500 }));
    const lines = await all(exportRegistry(store));
    assert.is(lines.length, 251);
    for (const at of [0, 1, 150, 249, 250]) {
      const parsed = parseLine(lines[at]!);
      assert.ok(parsed.ok);
      assert.equal(await all(exportRegistry(store, parsed.line)), lines.slice(at + 1));
    }
  });

  test("what is imported twice is there once", async ({ store }) => {
    const lines = generated({ agents: 40, publishers: 60, properties: 600 });
    await importRegistry(store, lines, { now: () => NOW });
    const first = await shown(store);
    const again = await importRegistry(store, lines, { now: () => NOW });
    assert.is(again.publishers, 60);
    assert.equal(await shown(store), first);
    const named = await importRegistry(store, lines, { id: "x" });
    assert.is(named.doneBefore, false);
    assert.is((await importRegistry(store, lines, { id: "x" })).doneBefore, true);
  });
}

/** Lines of domains whose owners want nothing told. */
function unwantedLines(test: Case): void {
  test("an import does not bring back what an owner has ended", async ({ store }) => {
    const data = createRegistryData(store, { now: () => NOW });
    const line = (domain: string): string =>
      JSON.stringify({
        kind: "publisher",
        domain,
        crawl: { outcome: "valid", valid: true, method: "direct" },
        adagents_json: { properties: [], authorized_agents: [{ url: SELLER, authorized_for: "All of it" }] },
      });
    const lines = ["gone.example", "blog.gone.example", "not-gone.example"].map(line);
    await importRegistry(store, lines);
    assert.is((await data.lookupPublisher("gone.example")).authorized_agents.length, 1);
    await data.optOut("gone.example");
    const { publishers, optedOut } = await importRegistry(store, lines);
    assert.equal([publishers, optedOut], [1, 2]);
    for (const domain of ["gone.example", "blog.gone.example"])
      assert.equal((await data.lookupPublisher(domain)).authorized_agents, [], domain);
    await data.optIn("gone.example");
    assert.is((await importRegistry(store, lines)).publishers, 3);
  });
}

/** Lines that cannot be read. */
function badLines(test: Case, engine: Engine): void {
  test("a line that cannot be taken is named; what came before it is kept", async () => {
    const good: TransferLine = {
      kind: "publisher",
      domain: "a.example",
      adagents_json: { authorized_agents: [{ url: SELLER }] },
    };
    const property = { property_type: "website", identifiers: [] };
    const bad: [unknown, RegExp][] = [
      ["{", /line 3.*is not JSON/],
      ["[]", /line 3.*no JSON object/],
      [{ kind: "other" }, /line 3.*kind is none of publisher, member, hosted, claims/],
      [{ kind: "publisher" }, /line 3.*'domain'/],
      [{ kind: "publisher", domain: "nodot" }, /line 3.*nodot is no domain/],
      [{ ...good, surprise: 1 }, /line 3.*\(surprise\)/],
      [{ ...good, adagents_json: { properties: [property] } }, /line 3.*\/adagents_json\/properties\/0 .*'name'/],
      [{ ...good, adagents_json: { authorized_agents: [{ url: "ftp://x" }] } }, /line 3.*ftp:\/\/x is no http/],
      [{ kind: "member", slug: "No Slug", display_name: "x" }, /line 3.*slug/],
    ];
    for (const [line, message] of bad) {
      const text = typeof line === "string" ? line : JSON.stringify(line);
      const lines = [JSON.stringify(good), "", text, JSON.stringify({ ...good, domain: "b.example" })];
      const fresh = await engine.open();
      try {
        await importRegistry(fresh, lines);
        assert.unreachable(text);
      } catch (error) {
        assert.instance(error, AdbindError);
        const { code, message: said } = error as AdbindError;
        assert.is(code, "registry_data_invalid");
        assert.match(said, /line 3/);
        assert.match(`${(error as AdbindError).where}: ${said}`, message);
      }
      assert.equal((await createRegistryData(fresh).lookupPublisher("a.example")).adagents_valid, true);
      const told: number[] = [];
      const result = await importRegistry(fresh, lines, { invalid: (number) => told.push(number) });
      assert.equal([told, result.invalid, result.publishers], [[3], 1, 2]);
      if (engine.name === "postgres") break;
    }
  });
}

/** Lines that the registry refuses. */
function refusedLines(test: Case): void {
  test("a line that the registry refuses keeps no other line from being taken", async ({ store }) => {
    const line = (slug: string, url: string): string =>
      JSON.stringify({ kind: "member", slug, display_name: slug, agents: [{ url, type: "sales" }] });
    const lines = [line("first", SELLER), line("thief", SELLER), line("last", OTHER)];
    const slugs = async (): Promise<unknown[]> =>
      (await all(exportRegistry(store))).map((text) => JSON.parse(text).slug);
    try {
      await importRegistry(store, lines);
      assert.unreachable();
    } catch (error) {
      assert.match(String((error as AdbindError).where), "line 2");
      assert.match((error as Error).message, "belongs to another member");
    }
    assert.equal(await slugs(), ["first"]);
    const told: number[] = [];
    // The last line is none at all: what was refused before it is told of before it.
    const result = await importRegistry(store, [...lines, "{"], { invalid: (number) => told.push(number) });
    assert.equal([told, result.members, result.invalid], [[2, 4], 2, 2]);
    const nul = JSON.stringify({ kind: "member", slug: "nul", display_name: "a\0" });
    const without = await importRegistry(store, [nul, line("after", "https://after.example/mcp")], {
      invalid: (number) => told.push(number),
    });
    assert.equal(
      [told, without.members, without.invalid],
      [[2, 4, 1], 1, 1],
      "what PostgreSQL cannot keep is nobody's",
    );
    assert.equal(await slugs(), ["after", "first", "last"]);
  });
}

/** Imports that are cut off. */
function kills(test: Case, engine: Engine): void {
  test("killed again and again, an import loses nothing and ends as one that was not", async ({ store }) => {
    const folder = mkdtempSync(path.join(tmpdir(), "adbind-import-"));
    const file = path.join(folder, "lines.ndjson");
    const lines = generated({ agents: 800, publishers: 1_600, properties: 16_000 });
    writeFileSync(file, lines.join("\n"));
    const begun: number[] = [];
    let kills = 0;
    let kept = 0;
    for (let round = 0; ; round++) {
      const child = importer(engine.url(), file);
      child.stdout!.once("data", (chunk: Buffer) => begun.push(Number(chunk.toString().split(" ")[0])));
      // Later each time, so that every part of an import is cut through.
      const ended = await Promise.race([once(child, "exit"), killed(child, round < 6 ? round + 1 : Infinity)]);
      if (ended === "killed") kills += 1;
      else if (ended[0] === 0) break;
      else assert.unreachable(`the importer failed: ${ended}`);
      const { discovered_properties } = await createRegistryData(store).stats();
      assert.ok(discovered_properties >= kept, "what was committed stays");
      kept = discovered_properties;
    }
    assert.ok(kills > 0, "it was killed");
    assert.ok(begun[1]! > begun[0]!, `the second run went on after the first: ${begun}`);
    const whole = await engine.open();
    await importRegistry(whole, readFileSync(file, "utf8").split("\n"), { now: () => NOW });
    const plain = (text: unknown): string => JSON.stringify(text).replaceAll(/"updated_at":"[^"]*"/g, "");
    assert.is(plain(await shown(store)), plain(await shown(whole)));
    rmSync(folder, { recursive: true });
  });
}

export function transferCase(engine: Engine): void {
  const test = suite<{ store: Store }>(`registry import and export on ${engine.name}`);
  test.before.each((context) => opened(context, engine));
  movedCase(test);
  for (const some of [roundTrips, repeats, unwantedLines, badLines, refusedLines, kills]) some(test, engine);
  test.after(() => engine.stop());
  test.run();
}

const importer = (url: string, file: string): ChildProcess =>
  spawn(process.execPath, [...fromSource, path.join(import.meta.dirname, "data-import-child.ts"), url, file], {
    stdio: ["ignore", "pipe", "inherit"],
  });

/** Kills the child once it has reported so many batches. */
const killed = (child: ChildProcess, batches: number): Promise<"killed"> =>
  new Promise((resolve) => {
    let seen = 0;
    child.stdout!.on("data", (chunk: Buffer) => {
      seen += chunk.toString().split("\n").length - 1;
      if (seen < batches || child.killed) return;
      child.kill("SIGKILL");
      child.once("exit", () => resolve("killed"));
    });
  });
