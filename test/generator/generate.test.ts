/** What reaches the disk, and what does not. */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import fc from "fast-check";
import { create } from "tar";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { generate } from "../../generator/index.js";
import { changedRelease, type Files, smallRelease, tempFolder, writeRelease } from "../support/release.js";
import { thrownBy } from "../support/thrown.js";

const golden = path.resolve(import.meta.dirname, "../golden/small");

const tree = (folder: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => path.join(entry.parentPath, entry.name))
      .sort()
      .map((file) => [path.relative(folder, file), readFileSync(file, "utf8")]),
  );

/** The version of this package is in owned.json, and no business of the golden tree's. */
const comparable = (files: Record<string, string>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(files).map(([file, text]) => [
      file,
      text.replace(/"generator": "adbind [^"]+"/, '"generator": "adbind"'),
    ]),
  );

test("the small release gives the golden tree", async () => {
  const out = tempFolder();
  const result = await generate([writeRelease(smallRelease())], { out });
  assert.is(result.ok, true);
  const made = comparable(tree(path.join(out, "1.2.3")));
  if (process.env.ADBIND_UPDATE_GOLDEN !== undefined) {
    rmSync(golden, { recursive: true, force: true });
    for (const [file, text] of Object.entries(made)) {
      mkdirSync(path.dirname(path.join(golden, file)), { recursive: true });
      writeFileSync(path.join(golden, file), text);
    }
  }
  const expected = tree(golden);
  assert.equal(Object.keys(made), Object.keys(expected));
  for (const [file, text] of Object.entries(made)) assert.is(text, expected[file], file);
});

const shuffled = (value: unknown, order: () => number): unknown => {
  if (Array.isArray(value)) return value.map((one) => shuffled(one, order));
  if (typeof value !== "object" || value === null) return value;
  const keys = Object.entries(value).map(([key, one]) => ({ key, one, at: order() }));
  return Object.fromEntries(keys.sort((a, b) => a.at - b.at).map(({ key, one }) => [key, shuffled(one, order)]));
};

test("the order of keys and files does not show", async () => {
  const expected = tree(golden);
  await fc.assert(
    fc.asyncProperty(fc.infiniteStream(fc.nat()), async (numbers) => {
      const next = () => numbers.next().value as number;
      const files = shuffled(smallRelease(), next) as Files;
      const manifest = files["manifest.json"] as { tools: Record<string, { async_response_schemas: string[] }> };
      manifest.tools.place_order!.async_response_schemas.reverse();
      const out = tempFolder();
      await generate([writeRelease(files)], { out });
      const made = comparable(tree(path.join(out, "1.2.3")));
      for (const [file, text] of Object.entries(made))
        if (file !== "owned.json" && file !== "index.ts") assert.is(text, expected[file], file);
    }),
    { numRuns: 10 },
  );
});

test("a .tgz gives what its folder gives, also as npm packs it", async () => {
  const source = writeRelease(smallRelease());
  const parent = tempFolder();
  cpSync(source, path.join(parent, "package"), { recursive: true });
  const archive = path.join(tempFolder(), "release.tgz");
  await create({ file: archive, cwd: parent, gzip: true }, ["package"]);
  const [a, b] = [tempFolder(), tempFolder()];
  await generate([source], { out: a });
  await generate([archive], { out: b });
  assert.equal(tree(a), tree(b));
});

test("an unchanged release is left alone, and what is missing of it is made again", async () => {
  const out = tempFolder();
  const source = writeRelease(smallRelease());
  await generate([source], { out });
  const file = path.join(out, "1.2.3/errors.ts");
  const before = statSync(file).mtimeMs;
  assert.is((await generate([source], { out })).releases[0]?.outcome, "unchanged");
  assert.is(statSync(file).mtimeMs, before);
  rmSync(path.join(out, "1.2.3/tools/index.ts"));
  assert.is((await generate([source], { out })).releases[0]?.outcome, "written");
  assert.ok(existsSync(path.join(out, "1.2.3/tools/index.ts")));
});

test("--check lists everything that differs and writes nothing", async () => {
  const out = tempFolder();
  const source = writeRelease(smallRelease());
  const first = await generate([source], { out, check: true });
  assert.is(first.ok, false);
  assert.is(existsSync(path.join(out, "1.2.3")), false);
  await generate([source], { out });
  assert.is((await generate([source], { out, check: true })).ok, true);
  const folder = path.join(out, "1.2.3");
  const errors = readFileSync(path.join(folder, "errors.ts"), "utf8");
  writeFileSync(path.join(folder, "errors.ts"), `${errors}// more\n`);
  writeFileSync(
    path.join(folder, "index.ts"),
    readFileSync(path.join(folder, "index.ts"), "utf8").replace(/^.*\n/, ""),
  );
  writeFileSync(path.join(folder, "tools/stray.ts"), "");
  rmSync(path.join(folder, "specialisms.ts"));
  const result = await generate([source], { out, check: true });
  assert.is(result.ok, false);
  assert.equal(result.releases[0]?.differences, [
    { file: "errors.ts", what: "edited by hand" },
    { file: "index.ts", what: "edited by hand" },
    { file: "specialisms.ts", what: "missing" },
    { file: "tools/stray.ts", what: "orphan" },
  ]);
  assert.is(existsSync(path.join(folder, "specialisms.ts")), false);
});

test("files that are not adbind's are never replaced", async () => {
  const out = tempFolder();
  const source = writeRelease(smallRelease());
  await generate([source], { out });
  const mine = path.join(out, "1.2.3/mine.ts");
  writeFileSync(mine, "precious");
  try {
    await generate([source], { out });
    assert.unreachable();
  } catch (error) {
    assert.match((error as Error).message, /mine\.ts/);
  }
  assert.is(readFileSync(mine, "utf8"), "precious");
});

test("one broken release among several: nothing is written", async () => {
  const out = tempFolder();
  const good = writeRelease(smallRelease());
  const bad = changedRelease((files) => {
    files["manifest.json"].proto_version = "2.0.0";
    files["core/error.json"] = "{";
  });
  const result = await generate([good, bad], { out });
  assert.is(result.ok, false);
  assert.equal(readdirSync(out), []);
  const [finding] = result.releases[1]!.findings;
  assert.is(finding?.file, "core/error.json");
  assert.is(finding?.rule, "json");
});

test("two releases of one version that differ are refused by name, before either is written", async () => {
  const out = tempFolder();
  const one = writeRelease(smallRelease());
  const other = changedRelease((files) => {
    files["core/line.json"].title = "Row";
  });
  const { code, message } = await thrownBy(() => generate([one, other], { out }));
  assert.is(code, "output_conflict");
  assert.match(message, new RegExp(`${one} .*digest \\w{12}.* and ${other} .*are both release 1\\.2\\.3, and differ`));
  assert.equal(readdirSync(out), []);
});

test("the same release given twice is one", async () => {
  const [one, again] = [writeRelease(smallRelease()), writeRelease(smallRelease())];
  const { ok, releases } = await generate([one, again, one], { out: tempFolder() });
  assert.is(ok, true);
  assert.equal(
    releases.map(({ source, alsoFrom }) => ({ source, alsoFrom })),
    [{ source: one, alsoFrom: [again, one] }],
  );
});

test("--partial leaves out what missing files break, names it, and keeps the rest", async () => {
  const out = tempFolder();
  const source = changedRelease((files) => {
    files["core/line.json"] = undefined;
  });
  const refused = await generate([source], { out });
  assert.is(refused.ok, false);
  const result = await generate([source], { out, partial: true });
  assert.is(result.ok, true);
  assert.equal(
    result.releases[0]?.leftOut.map(({ tool }) => tool),
    ["place_order"],
  );
  const again = await generate([source], { out, partial: true });
  const { tools, codes, specialisms, files, leftOut } = result.releases[0]!;
  assert.is(again.releases[0]?.outcome, "unchanged");
  const { took: _, ...told } = again.releases[0]!;
  assert.equal({ ...told, outcome: "" }, { ...told, outcome: "", tools, codes, specialisms, files, leftOut });
  assert.equal([tools, codes, leftOut[0]!.because.length > 0], [2, 2, true]);
  const folder = path.join(out, "1.2.3");
  assert.is(existsSync(path.join(folder, "tools/place-order.ts")), false);
  assert.is(existsSync(path.join(folder, "tools/list-orders.ts")), true);
  // The specialism still names the tool: an agent that lacks it must not pass for a seller.
  assert.match(readFileSync(path.join(folder, "specialisms.ts"), "utf8"), /entryPoints: \["place_order"\]/);
});

test.run();
