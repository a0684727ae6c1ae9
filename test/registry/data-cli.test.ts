/** `adbind registry import` and `export`, as an operator types them. */
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { inventory } from "../../bench/support/inventory.js";
import { registerTransfer } from "../../cli/registry-transfer.js";
import { commandFolder, runCommand } from "../cli/run-command.js";

const { at, remove } = commandFolder();
const lines = [...inventory({ agents: 20, publishers: 30, properties: 90, seed: 2 })].map((line) =>
  JSON.stringify(line),
);
const [one, two] = ["sqlite:one.db", "sqlite:two.db"];
const call = (...args: string[]) => runCommand(registerTransfer, args);

test("what was exported can be imported elsewhere, and exports the same", async () => {
  writeFileSync(at("given.ndjson"), `${lines.join("\n")}\n`);
  const imported = await call("import", "given.ndjson", "--store", one);
  assert.match(imported.out, "30 publishers, 90 properties, 1 member");
  assert.match(imported.out, "20 profiles computed");
  assert.match((await call("import", "given.ndjson", "--store", one)).out, "nothing to do");
  assert.match((await call("import", "given.ndjson", "--store", one, "--again")).out, "30 publishers");
  assert.match((await call("export", "a.ndjson", "--store", one)).out, "31 lines written");
  await call("import", "a.ndjson", "--store", two);
  await call("export", "b.ndjson", "--store", two);
  assert.is(readFileSync(at("b.ndjson"), "utf8"), readFileSync(at("a.ndjson"), "utf8"));
});

test("an export that was cut off is gone on with; one that is there is not overwritten", async () => {
  const whole = readFileSync(at("a.ndjson"), "utf8");
  writeFileSync(at("cut.ndjson"), whole.slice(0, Math.floor(whole.length / 2)));
  await call("export", "cut.ndjson", "--resume", "--store", one);
  assert.is(readFileSync(at("cut.ndjson"), "utf8"), whole);
  const refused = await call("export", "a.ndjson", "--store", one);
  assert.match(refused.err, /there already.*--resume/);
  assert.is(readFileSync(at("a.ndjson"), "utf8"), whole);
});

test("a line that cannot be taken is named by its number, and left out on demand", async () => {
  writeFileSync(at("bad.ndjson"), `${lines[1]}\n{"kind":"publisher"}\n${lines[2]}\n`);
  const refused = await call("import", "bad.ndjson", "--store", "sqlite:three.db");
  assert.match(refused.err, /line 2/);
  const taken = await call("import", "bad.ndjson", "--store", "sqlite:three.db", "--skip-invalid");
  assert.match(taken.err, /line 2 left out: .*'domain'/);
  assert.match(taken.out, /went on after line 1\n1 publisher,/);
  appendFileSync(at("bad.ndjson"), "more");
  assert.match(
    (await call("import", "nowhere.ndjson", "--store", one)).err,
    /no such file or folder \(.*nowhere.ndjson\)/,
  );
});

test("a file that was corrected near its end, under the same name and of the same size, is another import", async () => {
  const publisher = (domain: string, countries: readonly string[], padding = "") =>
    JSON.stringify({
      kind: "publisher",
      domain,
      crawl: { outcome: "valid", valid: true, method: "direct" },
      adagents_json: {
        properties: [],
        authorized_agents: [{ url: "https://seller.example/mcp", authorized_for: `x${padding}`, countries }],
      },
    });
  const before = Array.from({ length: 1_200 }, (_, at) => publisher(`p${at}.example`, [], "x".repeat(900)));
  const store = "sqlite:corrected.db";
  for (const country of ["DE", "FR"]) {
    writeFileSync(at("day.ndjson"), `${[...before, publisher("last.example", [country])].join("\n")}\n`);
    assert.match((await call("import", "day.ndjson", "--store", store)).out, "1201 publishers");
  }
  await call("export", "corrected.ndjson", "--store", store);
  assert.match(readFileSync(at("corrected.ndjson"), "utf8"), /"last\.example".*"FR"/);
});

test("the folder is cleared", remove);
test.run();
