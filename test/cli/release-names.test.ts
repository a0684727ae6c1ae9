/** `word@version`: where it is looked up, what is fetched and kept, and what is refused. No byte leaves this machine. */
import { existsSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import path from "node:path";
import nock from "nock";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { cacheFolder } from "../../cli/release/cache.js";
import { type NameOptions, nameIn, pathOfName } from "../../cli/release/name.js";
import { resolveReleases } from "../../cli/release/resolve.js";
import { sourcesFor } from "../../cli/release/sources.js";
import { loadRelease } from "../../generator/load/load.js";
import { createGuardedFetch } from "../../runtime/net/index.js";
import { cleanUp } from "../net/loopback-server.js";
import { sha256Of, smallBundle } from "../support/bundle.js";
import { manifestOf } from "../support/mutate-release.js";
import { smallRelease, tempFolder, writeRelease } from "../support/release.js";
import { thrownBy } from "../support/thrown.js";

const root = path.resolve(import.meta.dirname, "../..");
const HOST = "https://releases.example.com";

const test = suite<{ told: string[]; options: NameOptions; source: (table: object) => string }>("release names");

const guarded = () =>
  createGuardedFetch({ fetch: globalThis.fetch, lookup: async () => [{ address: "93.184.215.14", family: 4 }] });

const table = { ads: { bundle: `${HOST}/{version}.tgz`, checksum: `${HOST}/{version}.tgz.sha256` } };

test.before.each((context) => {
  nock.disableNetConnect();
  process.env.XDG_CACHE_HOME = tempFolder();
  delete process.env.ADBIND_SOURCES;
  context.told = [];
  context.source = (given) => {
    const file = path.join(tempFolder(), "sources.json");
    writeFileSync(file, JSON.stringify(given));
    return file;
  };
  context.options = { source: context.source(table), tell: (line) => context.told.push(line), fetcherFor: guarded };
});

test.after.each(async () => {
  nock.cleanAll();
  nock.enableNetConnect();
  await cleanUp();
});

/** Serves a bundle and its checksum, once. */
function serveBundle(file: string, { checksum = sha256Of(file), at = path.basename(file) } = {}): void {
  nock(HOST).get(`/${at}.sha256`).reply(200, `${checksum}  ${at}\n`).get(`/${at}`).reply(200, readFileSync(file));
}

const keptOf = (word = "ads"): string[] => {
  const folder = path.join(cacheFolder(), word);
  return existsSync(folder) ? readdirSync(folder).sort() : [];
};

test("a name has a word and a version; anything else is a path", () => {
  assert.equal(nameIn("ads@3.1.19"), { word: "ads", version: "3.1.19" });
  assert.equal(nameIn("ads@latest"), { word: "ads", version: "latest" });
  for (const other of ["ads", "./ads@3.1", "@scope/x", "dir/ads@3.1.0", "ads@1/2", "3.1.0"])
    assert.is(nameIn(other), undefined);
});

test("a bundle is fetched, held against its checksum, kept whole, and never fetched again", async ({
  options,
  told,
}) => {
  const bundle = await smallBundle("3.1.19");
  serveBundle(bundle);
  const kept = await pathOfName({ word: "ads", version: "3.1.19" }, options);
  assert.ok(nock.isDone());
  assert.equal(told, [`fetching ${HOST}/3.1.19.tgz`]);
  assert.is(sha256Of(kept), sha256Of(bundle), "byte for byte, so that nothing of it is lost");
  assert.match(readFileSync(`${kept}.sha256`, "utf8"), sha256Of(bundle));
  assert.ok(kept.startsWith(path.join(process.env.XDG_CACHE_HOME!, "adbind/releases/ads/3.1.19")));
  assert.equal(keptOf(), ["3.1.19"]);
  // Every further request would fail: nothing is served any more.
  assert.is(await pathOfName({ word: "ads", version: "3.1.19" }, options), kept);
  assert.is((await loadRelease(kept)).version, "3.1.19");
});

test("what is kept is verified each time it is read", async ({ options }) => {
  serveBundle(await smallBundle("3.1.19"));
  const kept = await pathOfName({ word: "ads", version: "3.1.19" }, options);
  writeFileSync(kept, Buffer.concat([readFileSync(kept), Buffer.from("x")]));
  assert.match((await thrownBy(() => loadRelease(kept))).message, /beside it says/);
});

for (const [what, checksum, told] of [
  ["another checksum", "0".repeat(64), /has SHA-256 \w{64}, and 0{64} is stated/],
  ["a checksum that is none", "not found", /is no SHA-256 of the bundle/],
] as const) {
  test(`${what} is refused, and nothing is kept`, async ({ options }) => {
    serveBundle(await smallBundle("3.1.19"), { checksum });
    const { code, message } = await thrownBy(() => pathOfName({ word: "ads", version: "3.1.19" }, options));
    assert.is(code, "release_unreadable");
    assert.match(message, told);
    assert.equal(keptOf(), []);
  });
}

test("--sha256 is verified beside the source's checksum, and stands for one that is missing", async ({
  options,
  source,
}) => {
  const bundle = await smallBundle("3.1.19");
  const name = { word: "ads", version: "3.1.19" };
  serveBundle(bundle);
  const wrong = await thrownBy(() => pathOfName(name, { ...options, sha256: "1".repeat(64) }));
  assert.match(wrong.message, /1{64} is stated/);
  const bare = source({ ads: { bundle: `${HOST}/{version}.tgz` } });
  assert.match(
    (await thrownBy(() => pathOfName(name, { ...options, source: bare }))).message,
    /states no checksum.*--sha256/,
  );
  nock(HOST).get("/3.1.19.tgz").reply(200, readFileSync(bundle));
  assert.ok(existsSync(await pathOfName(name, { ...options, source: bare, sha256: sha256Of(bundle) })));
});

test("a bundle that is another release than was asked for is not kept", async ({ options }) => {
  const other = await smallBundle("3.1.18");
  serveBundle(other, { at: "3.1.19.tgz" });
  const { message } = await thrownBy(() => pathOfName({ word: "ads", version: "3.1.19" }, options));
  assert.match(message, /the bundle is release 3\.1\.18 of ads/);
  assert.equal(keptOf(), []);
});

test("what the network gives is told, and nothing is kept", async ({ options }) => {
  const name = { word: "ads", version: "3.1.19" };
  const ask = async (): Promise<string> => (await thrownBy(() => pathOfName(name, options))).message;
  nock(HOST).get("/3.1.19.tgz.sha256").reply(404);
  assert.match(
    await ask(),
    /is not there \(status 404\) \(https:\/\/releases\.example\.com\/3\.1\.19\.tgz\.sha256\): check/,
  );
  nock(HOST).get("/3.1.19.tgz.sha256").reply(503);
  assert.match(await ask(), /status 503.*try again/);
  nock(HOST).get("/3.1.19.tgz.sha256").reply(200, "x".repeat(100_000));
  assert.match(await ask(), /\[too_large\]/);
  nock(HOST).get("/3.1.19.tgz.sha256").reply(302, undefined, { location: "http://releases.example.com/plain" });
  assert.match(await ask(), /\[redirect_downgrade\]/);
  assert.equal(keptOf(), []);
});

test("a range needs an index, or what is at hand; without, what to give is said", async ({ options, source, told }) => {
  const range = { word: "ads", version: "3.1" };
  const { code, message } = await thrownBy(() => pathOfName(range, options));
  assert.is(code, "usage");
  assert.match(
    message,
    /has no index, and no release of it is cached.*ads@3\.1\.0, or --source with a folder of releases/,
  );

  const indexed = { ...options, source: source({ ads: { ...table.ads, index: `${HOST}/index.json` } }) };
  const versions = ["3.0.9", "3.1.2", "3.1.10", "3.1.11-beta.1", "3.2.0-rc.1", "not a version"];
  nock(HOST).get("/index.json").reply(200, { versions });
  serveBundle(await smallBundle("3.1.10"));
  assert.match(await pathOfName(range, indexed), /ads-3\.1\.10\.tgz$/);
  assert.match(told[0]!, /ads@3\.1 is 3\.1\.10, by the index/);

  nock(HOST)
    .get("/index.json")
    .reply(
      200,
      versions.map((version) => ({ version })),
    );
  assert.match(await pathOfName({ word: "ads", version: "latest" }, indexed), /ads-3\.1\.10\.tgz$/);
  nock(HOST).get("/index.json").reply(200, versions);
  const early = await thrownBy(() => pathOfName({ word: "ads", version: "3.2" }, indexed));
  assert.match(early.message, /no release of ads .* is 3\.2 .*give one of 3\.2\.0-rc\.1, 3\.1\.11-beta\.1/);
  nock(HOST).get("/index.json").reply(200, "<html>");
  assert.match((await thrownBy(() => pathOfName(range, indexed))).message, /index of versions is not JSON/);

  // Without the index, what was fetched is at hand.
  assert.match(await pathOfName({ word: "ads", version: "latest" }, options), /ads-3\.1\.10\.tgz$/);
  assert.match(told.at(-1)!, /ads@latest is 3\.1\.10, the newest at hand/);
});

test("a folder of releases answers names, in --source and in ADBIND_SOURCES", async () => {
  const folder = tempFolder();
  for (const version of ["1.2.3", "1.3.0", "1.4.0-beta.1"]) {
    const files = smallRelease();
    manifestOf(files).proto_version = version;
    writeRelease(files, path.join(folder, version));
  }
  const ask = (version: string) => pathOfName({ word: "proto", version }, { source: folder });
  assert.is(await ask("latest"), path.join(folder, "1.3.0"));
  assert.is(await ask("1.2"), path.join(folder, "1.2.3"));
  assert.is(await ask("1.4.0-beta.1"), path.join(folder, "1.4.0-beta.1"));
  assert.match(
    (await thrownBy(() => ask("9.9.9"))).message,
    /it is not in .*: give one of 1\.4\.0-beta\.1, 1\.3\.0, 1\.2\.3/,
  );
  assert.match((await thrownBy(() => ask("newest"))).message, /names no version/);
  process.env.ADBIND_SOURCES = folder;
  assert.is(await resolveReleases("proto@1"), path.join(folder, "1.3.0"));
});

test("releases that come with the package have names too; a word without a source is told so", async ({ options }) => {
  const own = await pathOfName({ word: "proto", version: "3.1.0" }, options);
  assert.is(path.relative(root, own), "manifests/3.1.0");
  const { message } = await thrownBy(() => pathOfName({ word: "proto", version: "7.0.0" }, options));
  assert.match(
    message,
    /no source has releases of proto; at hand are 3\.1\.0, 3\.0\.0.*words with a source: ads, proto/,
  );
});

test("another source is asked again, although the version is cached from the first", async ({ options, source }) => {
  serveBundle(await smallBundle("3.1.19"));
  const first = await pathOfName({ word: "ads", version: "3.1.19" }, options);
  const elsewhere = source({ ads: { bundle: `${HOST}/m/{version}.tgz`, checksum: `${HOST}/m/{version}.tgz.sha256` } });
  const mirrored = await smallBundle("3.1.19");
  nock(HOST)
    .get("/m/3.1.19.tgz.sha256")
    .reply(200, sha256Of(mirrored))
    .get("/m/3.1.19.tgz")
    .reply(200, readFileSync(mirrored));
  assert.is(await pathOfName({ word: "ads", version: "3.1.19" }, { ...options, source: elsewhere }), first);
  assert.ok(nock.isDone());
  assert.is(sha256Of(first), sha256Of(mirrored));
});

test("two that fetch one release at once both have it; what a dead process left is removed", async ({ options }) => {
  const bundle = await smallBundle("3.1.19");
  serveBundle(bundle);
  serveBundle(bundle);
  const left = path.join(cacheFolder(), "ads/.staging-1-dead");
  writeRelease({ "new/half.tgz": "x" }, left);
  utimesSync(left, new Date(0), new Date(0));
  const name = { word: "ads", version: "3.1.19" };
  const [one, two] = await Promise.all([pathOfName(name, options), pathOfName(name, options)]);
  assert.is(one, two);
  assert.equal(keptOf(), ["3.1.19"]);
  assert.ok(statSync(one).size > 0);
});

test("a path that is there is meant, whatever it is called", async () => {
  const folder = tempFolder();
  process.env.ADBIND_CWD = folder;
  writeRelease(smallRelease(), path.join(folder, "ads@3.1.0"));
  assert.is(await resolveReleases("ads@3.1.0"), path.join(folder, "ads@3.1.0"));
  delete process.env.ADBIND_CWD;
});

test("a table of sources is read strictly", async ({ source }) => {
  for (const [given, told] of [
    [{ ads: { bundle: "http://plain.example/{version}.tgz" } }, /#\/ads\/bundle\): write the table as/],
    [{ ads: { bundle: "https://x.example/latest.tgz" } }, /#\/ads\/bundle\): put \{version\}/],
    [{ ads: { bundle: `${HOST}/{version}.tgz`, sha: "x" } }, /#\/ads\/sha\): take the field out/],
    [[], /a table of sources is an object/],
  ] as const) {
    const { code, message } = await thrownBy(() => sourcesFor(source(given)));
    assert.is(code, "usage");
    assert.match(message, told);
  }
  assert.match((await thrownBy(() => sourcesFor("no-such-place"))).message, /--source names no file or folder/);
  process.env.ADBIND_SOURCES = "https://x.example/all.tgz";
  assert.match((await thrownBy(() => sourcesFor(undefined))).message, /ADBIND_SOURCES.*put \{version\}/);
});

test("the table that comes with adbind has the official downloads", () => {
  const sources = sourcesFor(undefined);
  const official = sources.kind === "table" ? sources.words.adcp : undefined;
  assert.is(official?.bundle, "https://adcontextprotocol.org/protocol/{version}.tgz");
  assert.is(official?.checksum, "https://adcontextprotocol.org/protocol/{version}.tgz.sha256");
});

test.run();
