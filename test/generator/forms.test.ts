/** A release is one release in every form people have it: it is found, and has the same digest and the same output. */
import { mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync } from "node:fs";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { generate } from "../../generator/index.js";
import { findReleases } from "../../generator/load/files.js";
import { loadRelease } from "../../generator/load/load.js";
import { bundleFiles, pack } from "../support/bundle.js";
import { corpus, publishedReleases } from "../support/corpus.js";
import * as mutate from "../support/mutate-release.js";
import { type Files, smallRelease, tempFolder, writeRelease } from "../support/release.js";
import { thrownBy } from "../support/thrown.js";

/** The small release with what published ones have: a meta-schema, an index of data with references, a reference into another file. */
const release = (): Files => {
  const files = smallRelease();
  const prefix = "/schemas/1.2.3/";
  (files["manifest.json"] as mutate.Any).$schema = `${prefix}manifest.schema.json`;
  files["manifest.schema.json"] = { $id: `${prefix}manifest.schema.json`, type: "object" };
  files["index.json"] = { schemas: { core: { error: { $ref: `${prefix}core/error.json` } } } };
  files["core/unreached.json"] = {
    $id: `${prefix}core/unreached.json`,
    properties: { code: { $ref: `${prefix}core/error.json#/properties/code` }, own: { $ref: "#/properties/code" } },
  };
  return files;
};

const digestOf = async (label: string): Promise<string> => (await loadRelease(label)).digest;

const folder = writeRelease(release());
const expected = await digestOf(folder);
const unpacked = writeRelease(bundleFiles(release()));
const root = path.join(unpacked, "proto-1.2.3");
const bundle = await pack(bundleFiles(release()));

for (const [form, label] of Object.entries({
  "the bundle": bundle,
  "the bundle as .tar": await pack(bundleFiles(release()), "1.2.3.tar"),
  "the bundle, unpacked": root,
  "the folder it was unpacked into": unpacked,
  "its schemas/": path.join(root, "schemas"),
  "its manifest": path.join(root, "schemas/manifest.json"),
  "its list of contents": path.join(root, "manifest.json"),
  "a schemas/<version> folder": path.join(writeRelease(release(), path.join(tempFolder(), "schemas/1.2.3")), ".."),
  "an npm package": await pack(
    Object.fromEntries(Object.entries(release()).map(([file, one]) => [`package/${file}`, one])),
  ),
  "an archive without a folder": await pack(release()),
})) {
  test(`${form} is the release`, async () => {
    assert.is(await digestOf(label), expected);
    const found = await findReleases(label);
    assert.is(found.releases.length, 1);
    assert.is(await digestOf(found.releases[0]!), expected);
  });
}

/** Every reference and id of a release through `change`, those in data too: repackaging does not look where one stands. */
const spelled = (change: (uri: string, key: "$ref" | "$id", file: string) => string | undefined): Files => {
  const files = release();
  mutate.mapRefs(files, change);
  return files;
};

const rest = (uri: string): string | undefined => /^\/schemas\/1\.2\.3\/(.*)$/.exec(uri)?.[1];
const relative = (uri: string, file: string): string => {
  const to = rest(uri);
  return to === undefined ? uri : path.posix.relative(path.posix.dirname(file), to);
};
const https = (uri: string): string => (rest(uri) === undefined ? uri : `https://host.example/s/9/${rest(uri)}`);

const spellings: Record<string, Files> = {
  "no ids, path-absolute references": spelled((uri, key) => (key === "$id" ? undefined : uri)),
  "no ids, absolute references": spelled((uri, key) => (key === "$id" ? undefined : https(uri))),
  "no ids, relative references": spelled((uri, key, file) => (key === "$id" ? undefined : relative(uri, file))),
  "absolute ids and references": spelled((uri) => https(uri)),
  "ids, relative references": spelled((uri, key, file) => (key === "$id" ? uri : relative(uri, file))),
  "references to the own file by its path": spelled((uri, key, file) =>
    key === "$ref" && uri.startsWith("#") ? `/schemas/1.2.3/${file}${uri}` : uri,
  ),
};

const tree = (at: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(at, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => path.join(entry.parentPath, entry.name))
      .sort()
      .map((file) => [path.relative(at, file), readFileSync(file, "utf8")]),
  );

const output = async (label: string): Promise<Record<string, string>> => {
  const out = tempFolder();
  assert.is((await generate([label], { out })).ok, true);
  return tree(out);
};

test("links are followed, and those that lead nowhere, in a circle or to a folder are no files", async () => {
  const linked = writeRelease(release());
  const elsewhere = path.join(tempFolder(), "core");
  renameSync(path.join(linked, "core"), elsewhere);
  symlinkSync(elsewhere, path.join(linked, "core"));
  symlinkSync("gone.json", path.join(linked, "enums/nowhere.json"));
  symlinkSync("round.json", path.join(linked, "enums/round.json"));
  mkdirSync(path.join(linked, "enums/folder.json"));
  symlinkSync("folder.json", path.join(linked, "enums/to-folder.json"));
  for (const name of ["again", "self"]) symlinkSync(".", path.join(linked, name));
  assert.is(await digestOf(linked), expected);
});

test("however ids and references are spelled, digest and output are the same", async () => {
  const straight = await output(folder);
  assert.equal(await output(bundle), straight);
  for (const [spelling, files] of Object.entries(spellings)) {
    const label = writeRelease(files);
    assert.is(await digestOf(label), expected, spelling);
    assert.equal(await output(label), straight, spelling);
  }
});

test("the digest knows every schema, reached by a tool or not, and no projection", async () => {
  const changed = async (file: string, change: (content: mutate.Any) => unknown): Promise<boolean> => {
    const files = release();
    files[file] = change(structuredClone(files[file] ?? {}));
    return (await digestOf(writeRelease(files))) !== expected;
  };
  const titled = (content: object): object => ({ ...content, title: "Other" });
  assert.is(await changed("core/unreached.json", titled), true);
  assert.is(await changed("core/unreached.json", () => undefined), true);
  assert.is(await changed("core/unreached.json", () => "{"), true);
  assert.is(
    await changed("core/unreached.json", (one) => ({ ...one, properties: { code: { $ref: "error.json" } } })),
    true,
  );
  assert.is(await changed("manifest.schema.json", titled), true);
  assert.is(await changed("manifest.json", (one) => ({ ...one, generated_at: "2026-02-02T00:00:00Z" })), true);
  assert.is(await changed("manifest.json", (one) => ({ ...one, $schema: "./manifest.schema.json" })), false);
  assert.is(await changed("mcp/a.json", titled), false);
  assert.is(await changed("bundled/a.json", titled), false);
});

test("a schema under mcp/ or bundled/ that a tool names is read, from an archive too", async () => {
  const files = release();
  const { tools } = mutate.manifestOf(files);
  files["mcp/list-orders-request.json"] = files["media-buy/list-orders-request.json"];
  tools.list_orders.request_schema = "mcp/list-orders-request.json";
  const [loose, packed] = [await loadRelease(writeRelease(files)), await loadRelease(await pack(files))];
  for (const { findings, schemas } of [loose, packed]) {
    assert.equal(findings, []);
    assert.ok(schemas.has("mcp/list-orders-request.json"));
  }
  assert.is(packed.digest, loose.digest);
});

test("in a release without ids, a missing file is missing: no other of that name takes its place", async () => {
  const files = spelled((uri, key) => (key === "$id" ? undefined : https(uri)));
  files["error.json"] = { type: "string" };
  delete files["core/error.json"];
  const { schemas } = await loadRelease(writeRelease(files));
  const faults = [...schemas.values()].flatMap(({ findings }) => findings);
  assert.match(faults[0]?.message ?? "", /core\/error\.json" names no file/);
});

test("two manifests of a release in one bundle are refused by name; either can be named", async () => {
  const files = bundleFiles(release());
  files["proto-1.2.3/manifest.json"] = files["proto-1.2.3/schemas/manifest.json"];
  const both = writeRelease(files);
  for (const label of [both, await pack(files)]) {
    const { code, message } = await thrownBy(() => loadRelease(label));
    assert.is(code, "release_ambiguous");
    assert.match(message, /proto-1\.2\.3\/manifest\.json and proto-1\.2\.3\/schemas\/manifest\.json are both/);
  }
  assert.is(await digestOf(path.join(both, "proto-1.2.3/schemas")), expected);
  const outer = await loadRelease(path.join(both, "proto-1.2.3/manifest.json"));
  assert.is(outer.source.list().includes("schemas/core/error.json"), true);
});

test("a list of contents gone wrong does not hide the release below it; a manifest gone wrong is told as one", async () => {
  const broken = bundleFiles(release());
  broken["proto-1.2.3/manifest.json"] = "{";
  assert.is(await digestOf(writeRelease(broken)), expected);
  const alone = bundleFiles(release());
  alone["proto-1.2.3/schemas/manifest.json"] = "{";
  const { findings } = await loadRelease(await pack(alone));
  assert.equal(
    findings.map(({ rule, file }) => `${rule} ${file}`),
    ["json manifest.json"],
  );
});

test("a list of contents without a release beside it is said to be none", async () => {
  const files = { "old/manifest.json": { proto_version: "0.9.0", contents: {} }, "old/schemas/core/a.json": {} };
  for (const label of [writeRelease(files), await pack(files)]) {
    const { code, message } = await thrownBy(() => loadRelease(label));
    assert.is(code, "release_unreadable");
    assert.match(message, /old\/manifest\.json is no release's manifest: it has neither tools nor error_codes/);
  }
});

/** A folder of releases: one of each form, and something else. */
async function folderOfMany(): Promise<string> {
  const many = tempFolder();
  const versioned = (version: string): Files => {
    const files = release();
    mutate.manifestOf(files).proto_version = version;
    return files;
  };
  writeRelease(versioned("1.0.0"), path.join(many, "1.0.0"));
  writeRelease(bundleFiles(versioned("1.1.0")), path.join(many, "1.1.0"));
  await pack(bundleFiles(versioned("1.2.0")), "1.2.0.tgz", many);
  await pack({ "package/package.json": {} }, "other.tgz", many);
  writeRelease({ "app/manifest.json": { name: "a web app" } }, many);
  return many;
}

test("generate takes each release of a folder, and says what it passed over", async () => {
  const many = await folderOfMany();
  const { ok, releases, passedOver } = await generate([many], { out: tempFolder() });
  assert.is(ok, true);
  assert.equal(releases.map(({ version }) => version).sort(), ["1.0.0", "1.1.0", "1.2.0"]);
  assert.equal(
    passedOver.map(({ path: at }) => path.relative(many, at)),
    ["app/manifest.json", "other.tgz"],
  );
});

test("where one release is needed, a folder of them is refused with the list", async () => {
  const many = await folderOfMany();
  const { code, message } = await thrownBy(() => loadRelease(many));
  assert.is(code, "release_ambiguous");
  for (const one of ["1.0.0", "1.1.0/proto-1.1.0/schemas", "1.2.0.tgz"])
    assert.ok(message.includes(`${many}/${one}`), one);
  const packed = await pack({
    "a/manifest.json": { tools: {}, error_codes: {} },
    "b/manifest.json": { tools: {}, error_codes: {} },
  });
  const archive = await thrownBy(() => loadRelease(packed));
  assert.is(archive.code, "release_ambiguous");
  assert.match(archive.message, /there are 2 releases .*unpack it/);
});

test("published: a release has one digest as a folder, as a bundle and repackaged", async () => {
  if (publishedReleases().length === 0) return;
  const at = (name: string): string => path.join(corpus, name);
  assert.is(await digestOf(at("repacked/3.2.4")), await digestOf(at("releases/3.2.4")));
  for (const version of ["3.0.4", "3.0.26"]) {
    const own = await digestOf(at(`releases/${version}`));
    assert.is(await digestOf(at(`bundles/${version}.tgz`)), own);
  }
  // As newer packages of the official SDK hold releases: no ids, and every reference relative, wherever it stands.
  const files = mutate.readFiles(at("releases/3.1.19"));
  const prefix = mutate.idPrefix(files);
  mutate.mapRefs(files, (uri, key, file) => {
    if (key === "$id") return undefined;
    return uri.startsWith(prefix) ? path.posix.relative(path.posix.dirname(file), uri.slice(prefix.length)) : uri;
  });
  assert.is(await digestOf(writeRelease(files)), await digestOf(at("releases/3.1.19")));
});

test.run();
