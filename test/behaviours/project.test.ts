/** What `adbind new seller` writes for specialisms that the library answers: it compiles, starts and is small. */
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { compiles, newSeller } from "../../generator/scaffold/index.js";
import { type LibraryAreas, libraryChoice, planLibraryProject } from "../../generator/scaffold/library-plan.js";
import { modelOf } from "../../generator/scaffold/scaffold.js";
import { readProjectTemplates } from "../../generator/scaffold/template-files.js";
import { behaviours } from "../../runtime/behaviours/index.js";
import { checkConfig, ownTests, root, typeCheck, workspace } from "../scaffold/project.js";
import { cellsOf } from "../support/cells.js";
import { corpus } from "../support/corpus.js";
import { versions } from "./behaving-seller.js";

test("the scaffold knows what the library answers", () => {
  const listed: unknown = JSON.parse(readFileSync(path.join(root, "templates/project/areas.json"), "utf8"));
  const entries = behaviours.map(({ area, tools, needs = [] }) => [area, { tools: Object.keys(tools).sort(), needs }]);
  assert.equal(listed, Object.fromEntries(entries));
});

const linesOf = (text: string): number => text.trimEnd().split("\n").length;

const newest = versions.at(-1);

const OVERRIDE = "an override of an older release";
const SEVERAL = "several releases";
/** Everything that has a port of its own. */
const WHOLE = ["sales_guaranteed", "signal_owned", "creative_template"];
const claimed = ["sales_guaranteed", "signal_owned", WHOLE.join("+"), OVERRIDE, SEVERAL];
for (const specialism of newest === undefined
  ? []
  : cellsOf("ADBIND_CELLS=all ./run test test/behaviours", claimed, 1)) {
  if (specialism === OVERRIDE) {
    test("an override that a newer release wants more of is named, with what to write", overridden);
    continue;
  }
  if (specialism === SEVERAL) {
    test("a project of three releases is of the newest, compiles against all, and asks each in its test", several);
    continue;
  }
  test(`a project of ${specialism} is twelve files at most, compiles and passes its own test`, async () => {
    const folder = path.join(workspace(), specialism);
    const release = path.join(corpus, "releases", newest!);
    const specialisms = specialism.split("+");
    const { files, open } = await newSeller({ folder, release, specialisms, with: ["reporting"] });
    const lines = files.map((file) => linesOf(readFileSync(path.join(folder, file), "utf8")));
    assert.ok(files.length <= 12, files.join(", "));
    assert.ok(lines.reduce((sum, one) => sum + one, 0) <= 400, `${lines}`);
    const readme = readFileSync(path.join(folder, "README.md"), "utf8");
    for (const tool of open) assert.match(readme, tool);
    const types = await typeCheck(folder);
    assert.is(types.code, 0, types.output);
    const own = await ownTests(folder);
    assert.is(own.code, 0, own.output);
  });
}

async function several(): Promise<void> {
  const [first, ...further] = ["3.1.19", "3.2.4", "3.0.26"].map((version) => path.join(corpus, "releases", version));
  const folder = path.join(workspace(), "three");
  const made = { folder, release: first!, releases: further, specialisms: ["sales_guaranteed"] };
  const { version, also, files } = await newSeller(made);
  assert.equal([version, also], ["3.2.4", ["3.1.19", "3.0.26"]]);
  assert.ok(files.length <= 12, files.join(", "));
  const types = await typeCheck(folder);
  assert.is(types.code, 0, types.output);
  const own = await ownTests(folder);
  assert.is(own.code, 0, own.output);
  for (const one of ["3.2.4", ...also]) assert.match(own.output, `answers in ${one}`);
  const again = await newSeller(made);
  assert.equal([again.files, again.byHand], [[], []], "nothing is missing the second time");
}

if (newest !== undefined)
  test("whatever is claimed, and with whatever areas, a project is twelve files and 400 lines at most", async () => {
    const model = await modelOf(path.join(corpus, "releases", newest), false);
    const files = readProjectTemplates();
    const areas = JSON.parse(files.get("areas.json")!) as LibraryAreas;
    const sold = model.specialisms.filter(({ role }) => role === undefined);
    const claims = [...sold.map(({ id }) => [id]), sold.map(({ id }) => id)];
    const beside = [[], ...Object.keys(areas).map((area) => [area]), ["reporting", "signals"], Object.keys(areas)];
    let planned = 0;
    for (const specialisms of claims)
      for (const extra of beside) {
        const request = {
          name: "A shop",
          packageName: "a-shop",
          adbind: "^0.1.0",
          cli: "^0.1.0",
          specialisms,
          with: extra,
        };
        const choice = libraryChoice(model, areas, request);
        assert.equal(choice.open, [], `${specialisms}: the library does not answer all of it`);
        const plan = planLibraryProject(model, files, request, choice);
        const lines = [...plan.files.values()].reduce((sum, text) => sum + linesOf(text), 0);
        const what = `${specialisms} with ${extra}: ${plan.files.size} files, ${lines} lines`;
        assert.ok(plan.files.size <= 12 && lines <= 400, what);
        planned++;
      }
    assert.ok(planned > 100, `${planned} projects`);
  });

async function overridden(): Promise<void> {
  const folder = path.join(workspace(), "shop");
  const of = (version: string) => path.join(root, "manifests", version);
  await newSeller({ folder, release: of("3.0.0"), specialisms: ["sales_guaranteed"] });
  const seller = path.join(folder, "src/seller.ts");
  const answer = 'ctx.complete({ media_buy_id: "mb_1", packages: [] })';
  const own = readFileSync(seller, "utf8")
    .replace("async get_products(request, ctx)", "async create_media_buy(_request, ctx)")
    .replace("own.get_products(request, ctx)", answer)
    .replace("(own) =>", "() =>");
  writeFileSync(seller, own);
  const { byHand } = await newSeller({ folder, release: of("3.1.0"), specialisms: [] });
  assert.equal(byHand, []);
  assert.is(readFileSync(seller, "utf8"), own, "no line of it is touched");
  checkConfig(folder);
  const { faults, more } = compiles(folder, "tsconfig.check.json");
  const at = own.split("\n").findIndex((line) => line.includes(answer)) + 1;
  assert.equal(
    faults.map(({ place, write }) => ({ place, write })),
    [{ place: `src/seller.ts:${at}`, write: ["confirmed_at: string | null", "revision: number"] }],
  );
  assert.is(more, 0);
}

test.run();
