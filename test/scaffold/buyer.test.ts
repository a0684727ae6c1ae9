/** Projects of buyers: made from a release that tells them apart, compiled and tested as they are made, small. */
import { cpSync, readdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { register } from "../../cli/new.js";
import { runCommand } from "../cli/run-command.js";
import { tempFolder } from "../support/release.js";
import { ownTests, root, run, typeCheck, workspace } from "./project.js";

/** What a buyer of this release does, beside what its sellers do. */
const ACTIVATION = "buyer_activation";

/** The house's own release, with a specialism of those who call. */
function releaseWithBuyers(): string {
  const folder = path.join(tempFolder(), "release");
  cpSync(path.join(root, "manifests/3.1.0"), folder, { recursive: true });
  const file = path.join(folder, "manifest.json");
  const manifest = JSON.parse(readFileSync(file, "utf8"));
  const calls = ["create_media_buy", "sync_creatives"];
  manifest.specialisms[ACTIVATION] = {
    ...{ protocol: "media-buy", title: "Buyer agent: activation" },
    ...{ entry_point_tools: calls, exercised_tools: [...calls, "get_products"] },
  };
  for (const name of manifest.specialisms[ACTIVATION].exercised_tools) {
    const tool = manifest.tools[name];
    tool.specialisms = [...(tool.specialisms ?? []), ACTIVATION].sort();
  }
  writeFileSync(file, JSON.stringify(manifest));
  return folder;
}

const release = releaseWithBuyers();

test("a buyer's project has ten files at most, compiles and passes its own tests as it is made", async () => {
  const project = path.join(workspace(), "my-buyer");
  process.env.ADBIND_CWD = path.dirname(project);
  const make = () => runCommand(register, ["buyer", "my-buyer", "--specialism", ACTIVATION, "--release", release]);
  const made = await make();
  assert.is(made.code, 0, made.err);
  assert.match(made.out, /it calls create_media_buy, sync_creatives/);
  const files = readdirSync(project, { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile() && !one.parentPath.includes("bindings"))
    .map(({ name }) => name);
  assert.ok(files.length <= 10, files.join(", "));
  assert.match(readFileSync(path.join(project, "src/buyer.ts"), "utf8"), `BuyerFor<"${ACTIVATION}">`);
  assert.match(readFileSync(path.join(project, "src/buyer.ts"), "utf8"), /readonly sync_creatives: Parameters/);
  const [types, tests] = await Promise.all([typeCheck(project), ownTests(project)]);
  assert.is(types.code, 0, types.output);
  assert.is(tests.code, 0, tests.output);
  assert.match((await make()).err, /there is a project already/);
});

test("the next step that is printed leads into the project, whatever its folder is called", async () => {
  const folder = workspace();
  process.env.ADBIND_CWD = folder;
  const name = "Anna's buyer";
  const { out } = await runCommand(register, ["buyer", name, "--specialism", ACTIVATION, "--release", release]);
  const [, entering] = /^next: (cd .+?) && /m.exec(out)!;
  const { output } = await run("sh", ["-c", `${entering} && pwd`], folder);
  assert.is(output.trim(), path.join(realpathSync(folder), name));
});

test("a seller is not made of what a buyer does, nor a buyer of what a seller does, and why is said", async () => {
  const folder = workspace();
  process.env.ADBIND_CWD = folder;
  const seller = await runCommand(register, ["seller", "s", "--specialism", ACTIVATION, "--release", release]);
  assert.is(seller.code, 2);
  assert.match(seller.err, `${ACTIVATION} is for a buyer, who calls its tools and answers none`);
  const buyer = await runCommand(register, ["buyer", "b", "--specialism", "sales-guaranteed", "--release", release]);
  assert.is(buyer.code, 2);
  assert.match(buyer.err, /sales_guaranteed is for an agent that answers its tools/);
  assert.equal(readdirSync(folder), ["node_modules"]);
});

test.run();
