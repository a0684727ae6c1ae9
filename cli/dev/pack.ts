/**
 * `./run pack [folder]`: the tarballs of both packages. `./run pack --weigh [--write]`: each use of them installed in an empty
 * folder and measured; written, into docs/install.md.
 */
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { installations, type PackageName, packages, repository } from "./pack/packages.js";
import { installPage, rowOf, withRows } from "./pack/page.js";
import { packStaged, stagePackages } from "./pack/stage.js";
import { megabytes, type Tarballs, weighInstallation } from "./pack/weigh.js";

const given = process.argv.slice(2);
const [folder = "."] = given.filter((one) => !one.startsWith("-"));
const unknown = given.find((one) => one.startsWith("-") && !["--weigh", "--write"].includes(one));
const weighs = given.includes("--weigh");

function packAll(place: string): Tarballs {
  const staged = stagePackages(path.join(repository, ".cache/packages"), ["tsc"]);
  const names = Object.keys(packages) as PackageName[];
  return Object.fromEntries(names.map((name) => [name, packStaged(staged[name], place)])) as unknown as Tarballs;
}

function tell(tarballs: Tarballs): void {
  for (const file of Object.values(tarballs)) {
    const bytes = readFileSync(file);
    const digest = createHash("sha256").update(bytes).digest("hex");
    console.log(`${path.basename(file)}  ${Math.ceil(bytes.length / 1024)} KiB  sha256:${digest}`);
  }
}

/** @returns how many are not what they should be */
function weigh(tarballs: Tarballs): number {
  let failed = 0;
  const rows: string[] = [];
  for (const one of installations) {
    const { faults, ...weight } = weighInstallation(one, tarballs);
    const { packages: count, bytes } = weight;
    rows.push(rowOf(one, weight));
    const most = one.bounds === undefined ? "" : `  (at most ${one.bounds.packages}, ${one.bounds.megabytes} MB)`;
    const line = ["npm install", one.package, ...one.peers].join(" ");
    console.log(`${one.what}: ${count} packages, ${megabytes(bytes)} MB${most}: ${line}`);
    for (const fault of faults) console.log(`  ${fault}`);
    if (faults.length > 0) failed += 1;
  }
  if (given.includes("--write")) writeFileSync(installPage, withRows(readFileSync(installPage, "utf8"), rows));
  console.log(`entries: ${installations.length - failed} passed, ${failed} failed`);
  return failed;
}

if (unknown !== undefined) {
  console.error(`pack: there is no option ${unknown}: ./run pack [folder] [--weigh [--write]]`);
  process.exitCode = 2;
} else if (weighs) {
  const place = mkdtempSync(path.join(tmpdir(), "adbind-pack-"));
  const tarballs = packAll(place);
  tell(tarballs);
  if (weigh(tarballs) > 0) process.exitCode = 1;
  rmSync(place, { recursive: true });
} else tell(packAll(path.resolve(process.env.ADBIND_CWD ?? ".", folder)));
