/** `adbind new`: projects to start from. */
import { existsSync } from "node:fs";
import path from "node:path";
import type { Command } from "commander";
import { compiles, type NewSellerResult, newBuyer, newSeller } from "../generator/scaffold/index.js";
import { Sampler } from "../runtime/conformance/check/sample.js";
import type { JsonObject } from "../runtime/contract/index.js";
import { AdbindError } from "../runtime/errors.js";
import { createValidator } from "../runtime/validate/index.js";
import { releaseNamed } from "./check/release-value.js";
import { plural, printJson, shellWord, shownPath, userPath } from "./output.js";
import { type ReleaseOptions, releaseHelp, resolveForNew, withReleaseOptions } from "./release/resolve.js";

interface Options extends ReleaseOptions {
  specialism: string[];
  with: string[];
  release: string[];
  name?: string;
  adbind?: string;
  partial?: boolean;
  force?: boolean;
  json?: boolean;
}

/** A tarball as the project names it, so that both may be moved together; anything else is a version range. */
const dependency = (given: string, project: string): string =>
  existsSync(userPath(given)) ? `file:${path.relative(project, userPath(given)).split(path.sep).join("/")}` : given;

/** The tarball of adbind-cli beside one of adbind, as `./run pack` writes them. */
function cliBeside(given: string, project: string): { readonly cli?: string } {
  const { dir, base } = path.parse(given);
  const beside = path.join(dir, base.replace(/^adbind-/, "adbind-cli-"));
  return beside !== given && existsSync(userPath(beside)) ? { cli: dependency(beside, project) } : {};
}

const keptLine = (file: string, beside: string | null): string =>
  beside === null
    ? `kept as it is: ${file}; what it would be now was not written, for ${file}.new is yours: move that away and ask again`
    : `kept as it is: ${file}; what it would be now is ${beside}: take from it what you want, then remove it`;

/** What of the user's no longer compiles, with what to write. */
function compileFaults(folder: string): string[] {
  if (!existsSync(path.join(folder, "node_modules/adbind")))
    return ["npm install comes first: nothing can be said yet of what still compiles"];
  const { faults, more } = compiles(folder);
  const lines = faults.flatMap(({ place, what, write }) => [
    `no longer compiles: ${place}: ${what}`,
    ...write.map((one) => `  write: ${one}`),
  ]);
  return more > 0 ? [...lines, `and ${more} more: npm run types`] : lines;
}

/** What was written, and what is left to do. */
function printMade(target: string, result: NewSellerResult): void {
  const what = result.created ? "written" : "updated";
  const versions = [result.version, ...result.also].join(", ");
  console.log(`${shownPath(target)} ${what}: ${result.specialisms.join(", ")} of release ${versions}`);
  console.log(`${plural(result.files.length, "file")}, ${plural(result.tools.length, "tool")}`);
  if (result.open.length > 0) console.log(`missing, nobody answers: ${result.open.join(", ")}`);
  if (result.awaited.length > 0)
    console.log(
      `add by hand: a handler of ${result.awaited.join(", ")} to tools in src/seller.ts; it starts once it is there`,
    );
  for (const line of result.byHand) console.log(`add by hand: ${line}`);
  for (const { file, beside } of result.kept) console.log(keptLine(file, beside));
}

const collect = (value: string, before: string[]): string[] => [...before, value];

export function register(command: Command): void {
  const seller = command.command("seller");
  seller.exitOverride();
  withReleaseOptions(seller)
    .description("a seller for specialisms of a release; on an existing project: what a newer release needs")
    .argument("<folder>", "the project; made when missing")
    .option("--specialism <id>", "what it claims, in snake or kebab case; may be given several times", collect, [])
    .option(
      "--release <release>",
      `${releaseHelp}; the newest in the cache by default; of several, each call is answered in its caller's`,
      collect,
      [],
    )
    .option("--with <area>", "an area that stands in no specialism; may be given several times", collect, [])
    .option("--name <name>", "name for people; the folder's by default")
    .option(
      "--adbind <tarball>",
      "what the project installs adbind from, adbind-cli from the one beside it; by default this version, or what it has",
    )
    .option("--partial", "leave out the tools that missing or dangling files of the release break")
    .option("--force", "write over bindings that were edited by hand")
    .option("--json", "print the result as JSON")
    .addHelpText(
      "after",
      `
Of specialisms that adbind answers the project has ports, configuration and a test; what it does comes with adbind. On an
existing project: the bindings of the release, the ports it lacks, its files anew where nobody changed them, beside those that
were changed what they would be now, and what of yours no longer compiles, with what to write.

Example: adbind new seller my-seller --release proto@3.1.0 --specialism sales_guaranteed`,
    )
    .action(async (folder: string, options: Options) => {
      const { specialism, with: areas, release, name, adbind, partial, force, json } = options;
      const target = userPath(folder);
      const [first, ...further] = release;
      const result = await newSeller({
        folder: target,
        release: await resolveForNew(first, options),
        releases: await Promise.all(further.map((one) => resolveForNew(one, options))),
        specialisms: specialism,
        ...(areas.length > 0 && { with: areas }),
        ...(name !== undefined && { name }),
        ...(partial !== undefined && { partial }),
        ...(force !== undefined && { force }),
        ...(adbind !== undefined && { adbind: dependency(adbind, target), ...cliBeside(adbind, target) }),
      });
      const faults = result.created ? [] : compileFaults(target);
      if (json) return printJson({ ...result, faults });
      printMade(target, result);
      for (const line of faults) console.log(line);
      console.log(`next: cd ${shellWord(shownPath(target))} && npm install && npm test && npm start`);
    });
  registerBuyer(command);
}

/** A valid request of each tool of a release, as small as its schema lets it be; the release is read with the first. */
function smallRequests(release: string): (tool: string) => Promise<JsonObject | undefined> {
  const read = async () => {
    const value = await releaseNamed(release);
    return { value, sampler: new Sampler(await value.schemas()), validator: await createValidator(value) };
  };
  let made: ReturnType<typeof read> | undefined;
  return async (tool) => {
    made ??= read();
    const { value, sampler, validator } = await made;
    const valid = [...sampler.requests(value.tools[tool]!.request)].find((one) => validator.request(tool, one).ok);
    if (valid === undefined) return undefined;
    // The buyer makes a key for each call.
    const { idempotency_key: _, ...request } = valid;
    return request;
  };
}

interface BuyerOptions extends Omit<Options, "with" | "partial" | "force" | "release"> {
  release?: string;
}

function registerBuyer(command: Command): void {
  const buyer = command.command("buyer");
  buyer.exitOverride();
  withReleaseOptions(buyer)
    .description("a buyer for a specialism of those who call, such as buyer_activation")
    .argument("<folder>", "the project; made when missing")
    .option("--specialism <id>", "what it does, in snake or kebab case", collect, [])
    .option("--release <release>", `${releaseHelp}; the newest in the cache by default`)
    .option("--name <name>", "name for people; the folder's by default")
    .option("--adbind <tarball>", "what the project installs adbind from; this version by default")
    .option("--json", "print the result as JSON")
    .addHelpText("after", "\nExample: adbind new buyer my-buyer --specialism buyer_activation --release releases/3.2")
    .action(async (folder: string, options: BuyerOptions) => {
      const { specialism, release, name, adbind, json } = options;
      const [only, ...more] = specialism;
      if (only === undefined || more.length > 0)
        throw new AdbindError("usage", "a buyer's project is of one specialism", { remedy: "give --specialism once" });
      const target = userPath(folder);
      const place = await resolveForNew(release, options);
      const result = await newBuyer({
        folder: target,
        release: place,
        specialism: only,
        requestOf: smallRequests(place),
        ...(name !== undefined && { name }),
        ...(adbind !== undefined && { adbind: dependency(adbind, target) }),
      });
      if (json) return printJson(result);
      console.log(`${shownPath(target)} written: ${result.specialism} of release ${result.version}`);
      console.log(`${plural(result.files.length, "file")}; it calls ${result.tools.join(", ")}`);
      console.log(`next: cd ${shellWord(shownPath(target))} && npm install && npm test && AGENT_URL=... npm start`);
    });
}
