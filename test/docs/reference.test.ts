/** The reference is what the sources say today, and every export says what it is. */
import { existsSync, globSync } from "node:fs";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { undocumented } from "../../cli/dev/reference/api.js";
import { asMarkdown } from "../../cli/dev/reference/page.js";
import { referencePages } from "../../cli/dev/reference/pages.js";
import { read, root } from "./pages.js";

const folder = "docs/reference";

test("docs/reference is what ./run reference writes", async () => {
  const pages = await referencePages(root);
  const stale = pages
    .filter(({ file, text }) => !existsSync(path.join(root, folder, file)) || read(`${folder}/${file}`) !== text)
    .map(({ file }) => file);
  assert.equal(stale, [], "run ./run reference, and commit docs/reference");
  const written = globSync("**/*.md", { cwd: path.join(root, folder) }).sort();
  assert.equal(written, pages.map(({ file }) => file).sort());
});

test("every export has a docstring", () => {
  const bare = undocumented(root).map(({ file, name }) => `${file}: ${name}`);
  assert.is(bare.length, 0, `\n${bare.join("\n")}`);
});

test("what a source says is text, not markup", () => {
  assert.is(asMarkdown("sqlite:<path>, `a<b>` and {{ x }}", ""), "sqlite:&lt;path>, `a<b>` and &#123;&#123; x }}");
  assert.is(
    asMarkdown("as docs/protocol/tasks.md#arms has it", "../"),
    "as [protocol/tasks.md#arms](../protocol/tasks.md#arms) has it",
  );
});

test.run();
