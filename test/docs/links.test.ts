/** What pages and comments point to is there: files, headings. */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { commentsOf, fragmentsOf, linksOf, read, root, wrongPages } from "./pages.js";

const tracked = execFileSync("git", ["ls-files", "-z"], { cwd: root, encoding: "utf8" })
  .split("\0")
  .filter((file) => file !== "" && existsSync(path.join(root, file)));
const pages = tracked.filter((file) => file.endsWith(".md") && !file.startsWith(".changeset/"));
/** Sources with comments of ours; `generated/` repeats what its releases say. */
const sources = tracked.filter(
  (file) =>
    /(\.([cm]?[jt]s|sh|ya?ml|hbs)|(^|\/)run)$/.test(file) &&
    !/^(generated|manifests|test\/docs)\/|\/vendor\//.test(file),
);

const known = new Map<string, ReadonlySet<string> | undefined>();
const fragments = (page: string): ReadonlySet<string> | undefined => {
  if (!known.has(page)) known.set(page, existsSync(path.join(root, page)) ? fragmentsOf(read(page)) : undefined);
  return known.get(page);
};

const none = (found: readonly string[]): void => assert.is(found.length, 0, `\n${found.join("\n")}`);

test("every link of a page leads to a file of the repository, and to a heading that is there", () => {
  const wrong = pages.flatMap((page) =>
    linksOf(read(page)).flatMap((link) => {
      if (/^[a-z]+:/.test(link)) return [];
      const [file = "", fragment] = link.split("#");
      const target = file === "" ? page : path.posix.join(path.posix.dirname(page), file);
      if (!existsSync(path.join(root, target))) return [`${page}: ${link}: there is no such file`];
      if (fragment === undefined || !target.endsWith(".md")) return [];
      return fragments(target)?.has(fragment) === true ? [] : [`${page}: ${link}: the page has no such heading`];
    }),
  );
  assert.ok(pages.length > 15);
  none(wrong);
});

test("every page and heading that a source names is there", () => {
  const wrong = sources.flatMap((file) => wrongPages(read(file), fragments).map((problem) => `${file}: ${problem}`));
  assert.ok(sources.length > 500);
  none(wrong);
});

/** Where a comment's page may stand: it says the path from the root, from docs/, or of a file beside its own. */
const isThere = (file: string, page: string): boolean =>
  [page, `docs/${page}`, path.posix.join(path.posix.dirname(file), page)].some((one) =>
    existsSync(path.join(root, one)),
  ) || tracked.some((one) => one.endsWith(`/${page}`));

test("no comment names a document that is not in the repository", () => {
  const wrong = sources.flatMap((file) =>
    [...commentsOf(file, read(file)).matchAll(/[\w./-]*\w\.md\b|\b[a-z]+-facts\b/g)].flatMap(([page]) =>
      page.endsWith(".md") && isThere(file, page.replace(/^\/+/, "")) ? [] : [`${file}: ${page}`],
    ),
  );
  none(wrong);
});

test("a page or heading that is not there is found", () => {
  const there = (page: string) => (page === "docs/a.md" ? new Set(["order"]) : undefined);
  assert.equal(wrongPages("see docs/a.md#order, docs/a.md", there), []);
  assert.equal(wrongPages("docs/a.md#gone and docs/b.md", there), [
    "docs/a.md#gone: the page has no such heading",
    "docs/b.md: there is no such page",
  ]);
});

test("a heading's fragment is the one that GitHub makes", () => {
  assert.equal(
    [
      ...fragmentsOf(
        "# adagents.json\n\n## Where it is\n```\n# no heading\n```\n### `GET /x`, or *not*\n## Where it is",
      ),
    ],
    ["adagentsjson", "where-it-is", "get-x-or-not", "where-it-is-1"],
  );
});

test("comments are told from code", () => {
  assert.is(commentsOf("a.ts", 'const a = "http://b"; // c\n/** d */'), "// c\n/** d */");
  assert.is(commentsOf("run", "a=$# # b\n"), "# b");
});

test.run();
