/** Archives that somebody else packed: checked before they are read, and refused whole when they could mislead. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { Header } from "tar";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { generate } from "../../generator/index.js";
import { type ArchiveLimits, archiveLimits, readArchive } from "../../generator/load/archive.js";
import { checksumIn, readVerified } from "../../generator/load/checksum.js";
import { loadRelease } from "../../generator/load/load.js";
import { bundleFiles, pack, sha256Of, writeChecksum } from "../support/bundle.js";
import { smallRelease, tempFolder } from "../support/release.js";
import { thrownBy } from "../support/thrown.js";

interface Entry {
  path: string;
  content?: string;
  /** Bytes the header states, where they are not the content's. */
  size?: number;
  type?: "File" | "SymbolicLink" | "Link" | "CharacterDevice" | "Directory";
  linkpath?: string;
}

const BLOCK = 512;

/** An archive byte by byte, as a library would not write it. */
function tarOf(entries: readonly Entry[]): Buffer {
  const parts = entries.flatMap(({ path: name, content = "", size, type = "File", linkpath }) => {
    const header = Buffer.alloc(BLOCK);
    const stated = size ?? Buffer.byteLength(content);
    new Header({ path: name, size: stated, type, mode: 0o644, ...(linkpath !== undefined && { linkpath }) }).encode(
      header,
    );
    const body = Buffer.alloc(Math.ceil(Buffer.byteLength(content) / BLOCK) * BLOCK);
    body.write(content);
    return [header, body];
  });
  return Buffer.concat([...parts, Buffer.alloc(2 * BLOCK)]);
}

const read = (entries: readonly Entry[], limits: Partial<ArchiveLimits> = {}) =>
  readArchive("a.tgz", gzipSync(tarOf(entries)), () => true, { ...archiveLimits, ...limits });

const json = { path: "a/b.json", content: "{}" };

test("what is well is read", () => {
  assert.is(read([json, { path: "a/c.txt", content: "x".repeat(2000) }]).get("a/c.txt")?.length, 2000);
  assert.is(
    readArchive("a.tar", tarOf([json]), () => true)
      .get("a/b.json")
      ?.toString(),
    "{}",
  );
});

for (const [what, entries, told] of [
  ["a path upwards", [{ ...json, path: "a/../../b.json" }], /"a\/\.\.\/\.\.\/b\.json" in the archive leads out/],
  ["an absolute path", [{ ...json, path: "/etc/b.json" }], /leads out of the archive/],
  ["a path of a drive", [{ ...json, path: "C:b.json" }], /leads out of the archive/],
  ["a backslash", [{ ...json, path: "a\\..\\b.json" }], /leads out of the archive/],
  [
    "a symbolic link",
    [json, { path: "a/l.json", type: "SymbolicLink", linkpath: "/etc/passwd" }],
    /is a link to "\/etc\/passwd"/,
  ],
  ["a hard link", [json, { path: "a/l.json", type: "Link", linkpath: "a/b.json" }], /is a link to "a\/b\.json"/],
  ["a device", [{ path: "a/d", type: "CharacterDevice" }], /is neither file nor folder but CharacterDevice/],
  ["a name twice", [json, { path: "./a//b.json", content: "[]" }], /holds ".*" twice/],
] as [string, Entry[], RegExp][]) {
  test(`an archive with ${what} is refused`, async () => {
    const { code, message } = await thrownBy(() => read(entries));
    assert.is(code, "release_unreadable");
    assert.match(message, told);
    assert.match(message, /\(a\.tgz\): get the archive again/);
  });
}

const many = Array.from({ length: 20 }, (_, index) => ({ path: `f${index}.json`, content: "x".repeat(100) }));

for (const [what, limits, told] of [
  ["too many files", { entries: 10 }, /holds more than 10 files/],
  ["too much in all", { expandedBytes: 1500 }, /expands to more than 1500 bytes/],
  ["too large a file", { fileBytes: 99 }, /has 100 bytes, more than 99/],
] as [string, Partial<ArchiveLimits>, RegExp][]) {
  test(`an archive with ${what} is refused`, async () =>
    assert.match((await thrownBy(() => read(many, limits))).message, told));
}

/** Ten gigabytes of zeros in ten megabytes: gzip members may stand one after the other. */
const bombOf = (first: Buffer): Buffer => {
  const member = gzipSync(Buffer.alloc(64 * 1024 * 1024), { level: 9 });
  return Buffer.concat([gzipSync(first), ...Array.from({ length: 160 }, () => member)]);
};

test("a bomb is refused before it goes off", async () => {
  const header = (name: string): Buffer => tarOf([{ path: name, size: 8 * 1024 ** 3 - 1 }]).subarray(0, BLOCK);
  const bombs: [Buffer, RegExp][] = [
    [bombOf(header("a/b.json")), /"a\/b\.json" in the archive has \d+ bytes, more than/],
    [bombOf(Buffer.alloc(0)), /expands more than a thousandfold|goes on after its end/],
    [bombOf(tarOf([json])), /expands more than a thousandfold|goes on after its end/],
  ];
  const before = process.memoryUsage().rss;
  for (const [bytes, told] of bombs)
    assert.match((await thrownBy(() => readArchive("b.tgz", bytes, () => true))).message, told);
  assert.ok(process.memoryUsage().rss - before < 300e6, "and nothing of it is held");
});

test("one that is cut short, or none at all, says so", async () => {
  const whole = gzipSync(tarOf(many));
  for (const bytes of [whole.subarray(0, whole.length / 2), Buffer.from("no archive"), Buffer.alloc(0)]) {
    const { code, message } = await thrownBy(() => readArchive("a.tgz", bytes, () => true));
    assert.is(code, "release_unreadable");
    assert.match(message, /cannot be read: .*name a \.tgz of a release, whole/);
  }
});

test("a form of archive that is not read is named", async () => {
  const forms: [start: string, told: RegExp][] = [
    ["PK\x03\x04", /is a zip, which is not read/],
    ["BZh91AY&SY", /packed by bzip2/],
    ["\xfd7zXZ\0", /packed by xz/],
    ["\x28\xb5\x2f\xfd", /packed by zstd/],
  ];
  for (const [start, told] of forms) {
    const bytes = Buffer.concat([Buffer.from(start, "latin1"), Buffer.alloc(600)]);
    const { code, message } = await thrownBy(() => readArchive("a.tgz", bytes, () => true));
    assert.is(code, "release_unreadable");
    assert.match(message, told);
    assert.match(message, "unpack it and name the folder");
  }
});

test("an archive too large to be one is not even opened", async () => {
  const file = path.join(tempFolder(), "a.tgz");
  writeFileSync(file, Buffer.alloc(2000));
  assert.match((await thrownBy(() => readVerified(file, undefined, 1999))).message, /has 2000 bytes, more than 1999/);
});

test("a checksum file is read as sha256sum writes it", () => {
  const [a, b] = ["a".repeat(64), "b".repeat(64)];
  assert.is(checksumIn(`${a}\n`, "x.tgz"), a);
  assert.is(checksumIn(`${a}  y.tgz\n${b} *dist/x.tgz\n`, "x.tgz"), b);
  assert.is(checksumIn(`${a.toUpperCase()}  x.tgz`, "x.tgz"), a);
  assert.is(checksumIn(`${a}  y.tgz`, "x.tgz"), undefined);
  assert.is(checksumIn("<html>not found</html>", "x.tgz"), undefined);
});

const wrong = "0".repeat(64);

test("the checksum beside an archive, and the one given, are verified before anything is read", async () => {
  const bundle = await pack(bundleFiles(smallRelease()));
  const own = sha256Of(bundle);
  const refused = async (sha256?: string): Promise<string> => {
    const out = path.join(tempFolder(), "out");
    const { code, message } = await thrownBy(() => generate([bundle], { out, ...(sha256 && { sha256 }) }));
    assert.is(code, "release_unreadable");
    assert.is(existsSync(out), false);
    return message;
  };
  assert.match(await refused(wrong), /has SHA-256 \w{64}; --sha256 says 0{64}/);
  assert.is((await loadRelease(bundle, { sha256: own.toUpperCase() })).version, "1.2.3");
  writeChecksum(bundle);
  assert.is((await loadRelease(bundle)).version, "1.2.3");
  writeChecksum(bundle, wrong);
  assert.match(await refused(), /1\.2\.3\.tgz\.sha256 beside it says 0{64}/);
  assert.match(await refused(own), /beside it says/);
  writeFileSync(`${bundle}.sha256`, "gone\n");
  assert.match(await refused(), /the checksum file says nothing of 1\.2\.3\.tgz/);
  // Before anything is read: what is no archive at all is told by its checksum first.
  writeFileSync(bundle, "no archive");
  writeChecksum(bundle, wrong);
  assert.match(await refused(), /beside it says/);
});

test("in a folder of bundles a wrong checksum refuses all of them", async () => {
  const bundle = await pack(bundleFiles(smallRelease()));
  writeChecksum(bundle, wrong);
  const other = await pack(bundleFiles(smallRelease()), "other.tgz", path.dirname(bundle));
  const out = path.join(tempFolder(), "out");
  assert.match((await thrownBy(() => generate([path.dirname(other)], { out }))).message, /beside it says/);
  assert.is(existsSync(out), false);
});

test("a checksum is of one archive", async () => {
  const folder = path.dirname(await pack(bundleFiles(smallRelease())));
  const two = await pack(bundleFiles(smallRelease()), "two.tgz", folder);
  const given = { out: tempFolder(), sha256: sha256Of(two) };
  assert.is((await thrownBy(() => generate([folder], given))).code, "usage");
  assert.equal(readdirSync(given.out), []);
  assert.ok(readFileSync(two).length > 0);
});

test.run();
