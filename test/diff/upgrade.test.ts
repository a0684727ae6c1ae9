/** `adbind upgrade`: what a worksheet says of a project, what --apply changes, and how it ends. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { register as registerExplorer } from "../../cli/explorer.js";
import { openProject } from "../../cli/upgrade/project.js";
import { typeFaults } from "../../cli/upgrade/proof.js";
import { register, type Upgrade } from "../../cli/upgrade.js";
import { generate } from "../../generator/run.js";
import { newSeller } from "../../generator/scaffold/index.js";
import { runCommand } from "../cli/run-command.js";
import { changedRelease, smallRelease, tempFolder, writeRelease } from "../support/release.js";

const manifest = (version: string): string => path.resolve(import.meta.dirname, "../../manifests", version);

const older = writeRelease(smallRelease());
const newer = changedRelease((files) => {
  const manifest = files["manifest.json"];
  manifest.proto_version = "1.3.0";
  manifest.tools.place_order.deprecated_in = "1.3.0";
  manifest.tools.list_orders.async_response_schemas = ["media-buy/list-orders-async-response-working.json"];
  manifest.error_codes.BUSY.recovery = "terminal";
  files["media-buy/list-orders-async-response-working.json"] = {
    $schema: "http://json-schema.org/draft-07/schema#",
    type: "object",
    properties: { percentage: { type: "number" } },
  };
  files["core/line.json"].required.push("colour");
  files["core/line.json"].properties.colour = { type: "string" };
});

const SOURCE = `import { release } from "../generated/1.2.3/index.js";
import { handleListOrders, type ListOrdersArms } from "../generated/1.2.3/tools/list-orders.js";
export const order = { lines: [{ product_id: "p" }] };
export const code = (one: string) => one === "BUSY";
export const told = (answer: never) =>
  handleListOrders(answer, {
    completed: () => "done",
    failed: () => "failed",
    rejected: () => "rejected",
    canceled: () => "canceled",
  });
export const placed = () => release.tools.place_order;
`;

/** A small buyer, its bindings of the older release; its test is what is given. */
async function project(testScript: string): Promise<string> {
  const folder = tempFolder();
  mkdirSync(path.join(folder, "src"));
  writeFileSync(path.join(folder, "src/buyer.ts"), SOURCE);
  writeFileSync(path.join(folder, "package.json"), JSON.stringify({ type: "module", scripts: { test: testScript } }));
  writeFileSync(
    path.join(folder, "adbind.config.json"),
    JSON.stringify({ releases: ["../releases/1.2.3"], out: "generated" }),
  );
  await generate([older], { out: path.join(folder, "generated") });
  return folder;
}

async function upgraded(folder: string, ...argv: string[]): Promise<Upgrade & { code: number }> {
  const { out, code } = await runCommand(register, [folder, "--to", newer, "--from", older, "--json", ...argv]);
  return { ...(JSON.parse(out) as Upgrade), code };
}

test("the worksheet names what touches the project, with file and line, and writes nothing", async () => {
  const folder = await project("node --version");
  const { worksheet, applied, code } = await upgraded(folder);
  const of = (rule: string) => worksheet.byHand.filter((one) => one.rule === rule);
  assert.equal(of("required-property-added")[0]?.usedAt, ["src/buyer.ts:3"]);
  assert.equal(of("code-recovery")[0]?.usedAt, ["src/buyer.ts:4"]);
  assert.is(of("arm-added").length, 1);
  assert.equal(worksheet.deprecated.find(({ tool }) => tool === "place_order")?.usedAt, ["src/buyer.ts:12"]);
  assert.is(applied, undefined);
  assert.is(code, 1);
  assert.is(readFileSync(path.join(folder, "src/buyer.ts"), "utf8"), SOURCE);
});

test("a specialism of the project that demands another tool breaks it, and is counted", async () => {
  const demanding = changedRelease((files) => {
    const { tools, specialisms } = files["manifest.json"];
    files["manifest.json"].proto_version = "1.3.0";
    tools.end_session.specialisms = ["browsing"];
    specialisms.browsing.exercised_tools = ["end_session", "list_orders"];
  });
  const folder = tempFolder();
  writeFileSync(path.join(folder, "package.json"), "{}");
  writeFileSync(path.join(folder, "seller.js"), 'export const specialisms = ["browsing"];\n');
  await generate([older], { out: path.join(folder, "generated") });
  const { out, code } = await runCommand(register, [folder, "--to", demanding, "--from", older]);
  assert.match(out, "Touched by 1 finding: 1 broken, 0 undecided.");
  assert.match(out, "it demands end_session now");
  assert.is(code, 1);
});

test("--apply makes new bindings, points to them, adds the arm that is missing, and runs the project's tests", async () => {
  const folder = await project("node --version");
  const { applied, proof, code } = await upgraded(folder, "--apply");
  assert.equal(applied?.files, ["src/buyer.ts", "adbind.config.json", "generated/1.3.0"]);
  const source = readFileSync(path.join(folder, "src/buyer.ts"), "utf8");
  assert.not.match(source, "1.2.3");
  assert.match(source, /working: \(\) => \{ throw new Error\("list_orders answered working/);
  assert.match(readFileSync(path.join(folder, "adbind.config.json"), "utf8"), "../releases/1.3.0");
  assert.match(readFileSync(path.join(folder, "generated/1.3.0/index.ts"), "utf8"), "1.3.0");
  assert.equal([proof?.types, proof?.tests, code], ["none", "passed", 0]);
});

test("--apply brings a seller that adbind new made what it needs at the release", async () => {
  const folder = path.join(tempFolder(), "shop");
  await newSeller({ folder, release: manifest("3.0.0"), specialisms: ["sales_guaranteed"] });
  const settings = path.join(folder, "package.json");
  writeFileSync(settings, readFileSync(settings, "utf8").replace(/"test": ".*"/, '"test": "node --version"'));
  writeFileSync(path.join(folder, "src/catalogue.ts"), "// mine\n", { flag: "a" });
  const words = [folder, "--to", manifest("3.1.0"), "--from", manifest("3.0.0"), "--apply", "--json"];
  const { applied } = JSON.parse((await runCommand(register, words)).out) as Upgrade;
  for (const file of ["README.md", "bindings/3.1.0", "package.json"])
    assert.ok(applied?.files.includes(file), `${file} of ${applied?.files}`);
  assert.match(readFileSync(path.join(folder, "README.md"), "utf8"), "proto 3.1.0");
  assert.match(readFileSync(settings, "utf8"), "./bindings/3.1.0/index.ts");
  assert.match(readFileSync(path.join(folder, "src/catalogue.ts"), "utf8"), "// mine");
});

test("nobody goes back by mistake", async () => {
  const folder = await project("node --version");
  const { code, err } = await runCommand(register, [folder, "--from", newer, "--to", older, "--apply"]);
  assert.is(code, 2);
  assert.match(err, "the project is of release 1.3.0, and 1.2.3 is older (--to): ");
});

test("a project that does not hold afterwards says so, and what its tests said", async () => {
  const { proof, code } = await upgraded(
    await project("node -e \"console.log('an order is late'); process.exit(1)\""),
    "--apply",
  );
  assert.equal([proof?.tests, code], ["failed", 1]);
  assert.match(proof!.output, "an order is late");
});

test("faults of the compiler are read with file and line", () => {
  const output = "src/a.ts(3,7): error TS2322: Type 'string' is not assignable to type 'number'.\n  more of it\n";
  assert.equal(typeFaults(output), [
    { file: "src/a.ts", line: 3, code: "TS2322", message: "Type 'string' is not assignable to type 'number'." },
  ]);
});

test("a project's bindings are not the site of the explorer that it has too", async () => {
  const folder = await project("node --version");
  const { code } = await runCommand(registerExplorer, [older, "--out", path.join(folder, "site")]);
  const { word, version } = openProject(folder).bindings;
  assert.equal([code, word, version], [0, "proto", "1.2.3"]);
});

test("a folder without bindings is a wrong command line", async () => {
  assert.is((await runCommand(register, [tempFolder(), "--to", newer])).code, 2);
});

test.run();
