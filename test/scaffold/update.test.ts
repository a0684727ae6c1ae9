/** Re-running on an existing project: what nobody changed is written anew, and no line of the user's is touched. */
import { cpSync, existsSync, globSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { newSeller } from "../../generator/scaffold/index.js";
import { cut } from "../support/mutate-release.js";
import { writeRelease } from "../support/release.js";
import { root, typeCheckAll, workspace } from "./project.js";

/** One of our releases, less the tools that no test here names: bindings of all of them take most of the time otherwise. */
function releaseOf(version: string): string {
  const folder = path.join(root, "manifests", version);
  const { tools, specialisms } = JSON.parse(readFileSync(path.join(folder, "manifest.json"), "utf8"));
  const named = ["sales_guaranteed", "brand_rights"].flatMap((id) => specialisms[id]?.exercised_tools ?? []);
  const kept = new Set([...named, "get_signals"].filter((name) => Object.hasOwn(tools, name)));
  return writeRelease(cut(folder, [...kept]));
}
const older = releaseOf("3.0.0");
const newer = releaseOf("3.1.0");

const projects = workspace();
let shops = 0;
/** Projects that compile as a test leaves them: the last test says so of all at once. */
const sound: string[] = [];

const made = new Map<string, Promise<string>>();

/** A seller as it is made from a release: made once, and each test has its own copy. */
async function shop(release: string): Promise<string> {
  const first = made.get(release) ?? make(release);
  made.set(release, first);
  const folder = path.join(projects, `shop-${shops++}`);
  cpSync(await first, folder, { recursive: true });
  return folder;
}

async function make(release: string): Promise<string> {
  const folder = path.join(workspace(), "shop");
  await newSeller({ folder, release, specialisms: ["sales_guaranteed"] });
  return folder;
}

const sourceOf = (folder: string): Map<string, string> =>
  new Map(
    globSync("{src,test}/**/*.ts", { cwd: folder }).map((file) => [
      file,
      readFileSync(path.join(folder, file), "utf8"),
    ]),
  );

/** Every line of `before` is in `after`, in the same order. */
function isKept(before: string, after: string): boolean {
  const lines = after.split("\n")[Symbol.iterator]();
  return before.split("\n").every((line) => {
    for (let next = lines.next(); !next.done; next = lines.next()) if (next.value === line) return true;
    return false;
  });
}

test("lines that moved or went are noticed", () => {
  assert.ok(isKept("a\nb", "x\na\ny\nb"));
  assert.not(isKept("a\nb", "b\na"));
  assert.not(isKept("a\nb", "a\nb // changed"));
});

test("a newer release's bindings are pointed to; nothing else of the user's changes", async () => {
  const folder = await shop(older);
  const before = sourceOf(folder);
  const result = await newSeller({ folder, release: newer, specialisms: [] });
  assert.not(result.created);
  assert.is(result.version, "3.1.0");
  assert.equal(result.specialisms, ["sales_guaranteed"]);
  for (const [file, text] of before) assert.ok(isKept(text, readFileSync(path.join(folder, file), "utf8")), file);
  assert.match(readFileSync(path.join(folder, "package.json"), "utf8"), "./bindings/3.1.0/index.ts");
  assert.ok(existsSync(path.join(folder, "bindings/3.1.0/index.ts")));
  const again = await newSeller({ folder, release: newer, specialisms: [] });
  assert.equal(again.files, []);
});

test("an older release is refused by name, and taken beside the newer, or once that one's bindings are gone", async () => {
  const folder = await shop(newer);
  const before = sourceOf(folder);
  const manifest = textOf(folder, "package.json");
  const back = () => newSeller({ folder, release: older, specialisms: [] });
  const refused = await back().catch((error: unknown) => error as { code: string; message: string });
  assert.is((refused as { code?: string }).code, "usage");
  assert.match((refused as { message: string }).message, "the project is of release 3.1.0, and 3.0.0 is older");
  assert.equal([sourceOf(folder), textOf(folder, "package.json")], [before, manifest]);
  assert.not(existsSync(path.join(folder, "bindings/3.0.0")));
  const both = await newSeller({ folder, release: older, releases: [newer], specialisms: [] });
  assert.equal([both.version, both.also], ["3.1.0", ["3.0.0"]]);
  rmSync(path.join(folder, "bindings/3.1.0"), { recursive: true });
  assert.is((await back()).version, "3.0.0");
});

test("another specialism brings its ports, and says where they and it are named", async () => {
  const folder = await shop(newer);
  const mine = path.join(folder, "src/catalogue.ts");
  writeFileSync(mine, `// mine\n${readFileSync(mine, "utf8")}`);
  const before = sourceOf(folder);
  const seller = path.join(folder, "src/seller.ts");
  writeFileSync(seller, `// mine\n${readFileSync(seller, "utf8")}`);
  before.set("src/seller.ts", readFileSync(seller, "utf8"));
  const result = await newSeller({ folder, release: newer, specialisms: ["brand-rights"] });
  assert.equal(result.specialisms, ["sales_guaranteed", "brand_rights"]);
  assert.equal(result.files, ["src/brands.ts"]);
  assert.equal(result.byHand, [
    'src/seller.ts: "brand_rights" in specialisms',
    "src/seller.ts: the port of src/brands.ts",
  ]);
  for (const [file, text] of before) assert.is(readFileSync(path.join(folder, file), "utf8"), text, file);
  sound.push(folder);
});

const textOf = (folder: string, file: string): string => readFileSync(path.join(folder, file), "utf8");
const again = (folder: string, ...specialisms: string[]) => newSeller({ folder, release: newer, specialisms });

test("another specialism is named where nobody changed the file that names them", async () => {
  const folder = await shop(newer);
  const mine = `// mine\n${textOf(folder, "src/catalogue.ts")}`;
  writeFileSync(path.join(folder, "src/catalogue.ts"), mine);
  const { byHand, kept, files } = await again(folder, "brand_rights");
  assert.equal([byHand, kept], [[], []]);
  assert.ok(files.includes("src/seller.ts") && files.includes("README.md"), String(files));
  assert.match(textOf(folder, "src/seller.ts"), '"sales_guaranteed", "brand_rights"');
  assert.is(textOf(folder, "src/catalogue.ts"), mine);
  sound.push(folder);
});

test("the name and the further releases of a project outlast a run that does not give them", async () => {
  const folder = path.join(workspace(), "shop");
  await newSeller({ folder, release: newer, releases: [older], specialisms: ["sales_guaranteed"], name: "My Shop" });
  const before = sourceOf(folder);
  const { also, files } = await again(folder);
  assert.equal([also, files], [["3.0.0"], []]);
  assert.equal(sourceOf(folder), before);
});

test("what a project is asked to install adbind from is named in its manifest, and stays where nobody asks", async () => {
  const folder = await shop(newer);
  const named = (): string[] => {
    const { dependencies, devDependencies } = JSON.parse(textOf(folder, "package.json"));
    return [dependencies.adbind, devDependencies["adbind-cli"]];
  };
  const asked = { adbind: "file:../adbind-9.0.0.tgz", cli: "file:../adbind-cli-9.0.0.tgz" };
  const { files, byHand } = await newSeller({ folder, release: newer, specialisms: [], ...asked });
  assert.equal([files, byHand], [["package.json"], []]);
  assert.equal(named(), Object.values(asked));
  assert.equal((await again(folder)).files, []);
  assert.equal(named(), Object.values(asked));
});

test("a range of adbind that lets in no version that wrote the files is told, and left to its owner", async () => {
  const folder = await shop(newer);
  const old = textOf(folder, "package.json").replace(/("adbind": )"[^"]*"/, '$1"~0.0.1"');
  writeFileSync(path.join(folder, "package.json"), old);
  const { byHand } = await again(folder);
  assert.is(byHand.length, 1);
  assert.match(byHand[0]!, /^package\.json: "adbind": "\^\d.*npm install$/);
  assert.is(textOf(folder, "package.json"), old);
});

test("a project of another kind is left alone, and told what can be done", async () => {
  const folder = await shop(older);
  writeFileSync(path.join(folder, "src/seller.ts"), 'import { createSeller } from "adbind/seller";\n');
  const before = sourceOf(folder);
  try {
    await newSeller({ folder, release: newer, specialisms: [] });
    assert.unreachable();
  } catch (error) {
    assert.is((error as { code: string }).code, "usage");
    assert.match((error as Error).message, "src/seller.ts");
  }
  assert.equal(sourceOf(folder), before);
  assert.not(existsSync(path.join(folder, "bindings/3.1.0")));
});

test("handlers get the arms they lack", async () => {
  const folder = await shop(newer);
  const file = path.join(folder, "src/buying.ts");
  const written = [
    'import type { Answer } from "adbind/contract";',
    'import { type GetSignalsArms, handleGetSignals } from "#bindings";',
    "",
    "export const told = (answer: Answer<GetSignalsArms>): string =>",
    "  handleGetSignals(answer, {",
    '    completed: () => "done",   // mine',
    '    failed: () => "failed",',
    "  });",
    "",
  ].join("\n");
  writeFileSync(file, written);
  await newSeller({ folder, release: newer, specialisms: [] });
  const after = readFileSync(file, "utf8");
  assert.ok(isKept(written, after));
  assert.match(after, "rejected: () =>");
  sound.push(folder);
});

test("arms that cannot be added without touching a line are named", async () => {
  const folder = await shop(newer);
  const file = path.join(folder, "src/buying.ts");
  const written = [
    'import type { Answer } from "adbind/contract";',
    'import { type GetSignalsArms, handleGetSignals } from "#bindings";',
    "export const told = (answer: Answer<GetSignalsArms>) => handleGetSignals(answer, { completed: () => 1 });",
    "",
  ].join("\n");
  writeFileSync(file, written);
  const { byHand } = await newSeller({ folder, release: newer, specialisms: [] });
  assert.is(byHand.length, 1);
  assert.match(byHand[0]!, /^src\/buying\.ts: arms .*rejected.* of handleGetSignals$/);
  assert.is(readFileSync(file, "utf8"), written);
});

test("projects compile after a specialism came, named by hand or not, and after handlers got their arms", async () => {
  assert.is(sound.length, 3);
  const types = await typeCheckAll(projects, sound);
  assert.is(types.code, 0, types.output);
});

test("whatever lines a user adds, they stay as they are", async () => {
  const folder = await shop(older);
  const fresh = sourceOf(folder);
  const record = textOf(folder, "adbind.scaffold.json");
  const files = [...fresh.keys()].sort();
  const insertion = fc.record({
    file: fc.constantFrom(...files),
    at: fc.nat(400),
    line: fc.stringMatching(/^[\w ,;(){}"'.]{0,30}$/).map((text) => `// ${text}`),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(insertion, { minLength: 1, maxLength: 12 }), async (insertions) => {
      for (const [file, text] of fresh) writeFileSync(path.join(folder, file), text);
      writeFileSync(path.join(folder, "adbind.scaffold.json"), record);
      for (const { file, at, line } of insertions) {
        const target = path.join(folder, file);
        const lines = readFileSync(target, "utf8").split("\n");
        lines.splice(at % lines.length, 0, line);
        writeFileSync(target, lines.join("\n"));
      }
      const before = sourceOf(folder);
      await newSeller({ folder, release: newer, specialisms: ["sales_guaranteed", "brand_rights"] });
      for (const [file, text] of before)
        if (text !== fresh.get(file))
          assert.ok(isKept(text, readFileSync(path.join(folder, file), "utf8")), `${file} lost a line`);
    }),
    { numRuns: 8 },
  );
});

test.run();
