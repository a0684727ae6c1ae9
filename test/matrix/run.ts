/**
 * `./run matrix [--release RELEASE]... [--specialism ID]...`: for every specialism of a seller on each release a project is
 * written, compiled, started and checked, and a buyer lives a life with it. One line a cell.
 */
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { releaseNamed } from "../../cli/check/release-value.js";
import { willClose } from "../../cli/closing-line.js";
import { userPath } from "../../cli/output.js";
import { releaseHelp, resolveRelease } from "../../cli/release/resolve.js";
import { script } from "../../cli/script.js";
import { createValidator } from "../../runtime/validate/index.js";
import { projectsFolder } from "../conformance/served-seller.js";
import { corpus } from "../support/corpus.js";
import { judge, sellers } from "./cell.js";
import { page, type Results } from "./page.js";
import { writeProjects } from "./projects.js";

const DEFAULT = ["3.0.4", "3.0.26", "3.1.0", "3.1.19", "3.2.0-beta.4", "3.2.4"];

interface Options {
  readonly releases: readonly string[];
  readonly specialisms: readonly string[];
  readonly out: string | undefined;
}

const more = (one: string, all: string[]): string[] => [...all, one];
const snake = (id: string): string => id.replaceAll("-", "_");

async function main({ releases, specialisms, out }: Options): Promise<void> {
  const projects = projectsFolder(tmpdir());
  process.on("exit", () => rmSync(projects, { recursive: true, force: true }));
  const totals = { passed: 0, failed: 0 };
  const [results, versions]: [Results, string[]] = [new Map(), []];
  for (const source of releases) {
    const release = await releaseNamed(source);
    const validator = await createValidator(release);
    versions.push(release.version);
    const asked = sellers(release).filter((one) => specialisms.length === 0 || specialisms.includes(snake(one)));
    for (const [specialism, project] of await writeProjects(projects, source, asked)) {
      const faults = await judge({ project, release, validator, specialism }).catch((error: unknown) => [
        error instanceof Error ? error.message.slice(0, 400) : String(error),
      ]);
      totals[faults.length === 0 ? "passed" : "failed"] += 1;
      const by = results.get(specialism) ?? new Map();
      results.set(specialism, by.set(release.version, faults.length === 0));
      console.log(`${faults.length === 0 ? "ok    " : "FAILED"} ${release.version.padEnd(14)}${specialism}`);
      for (const fault of faults) console.log(`         ${fault.slice(0, 300)}`);
    }
  }
  if (out !== undefined) writeFileSync(userPath(out), page(results, versions));
  close(totals);
}

const given = script("matrix", "a seller of every specialism on each release, and a buyer's life with it")
  .option("--release <release>", `${releaseHelp}; may be repeated`, more, [] as string[])
  .option("--specialism <id>", "only this one; may be repeated", more, [] as string[])
  .option("--out <file>", "where the results are written as a page with a table")
  .parse()
  .opts<{ release: string[]; specialism: string[]; out?: string }>();
const close = willClose("cells");
const named =
  given.release.length > 0
    ? given.release
    : DEFAULT.map((version) => path.join(corpus, "releases", version)).filter((folder) => existsSync(folder));
const source = path.join(corpus, "releases");
await main({
  releases: await Promise.all(named.map((one) => resolveRelease(one, { source }))),
  specialisms: given.specialism.map(snake),
  out: given.out,
});
