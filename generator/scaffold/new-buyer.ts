/** `adbind new buyer`: a release and a specialism of those who call -> a small project on disk. */
import { existsSync } from "node:fs";
import path from "node:path";
import { AdbindError } from "../../runtime/errors.js";
import type { Model, SpecialismModel } from "../model/model.js";
import { knownSpecialism } from "./claimed.js";
import { modelOf, packageNameOf, thisVersion } from "./scaffold.js";
import { readBuyerTemplates } from "./template-files.js";
import { buyerPackageJson, gitignore, type ProjectFacts, tsconfigJson } from "./texts.js";
import { generateBindings, writeProject } from "./write-project.js";

export interface NewBuyerOptions {
  /** Folder of the project; made when missing. */
  readonly folder: string;
  /** Folder or archive of the release. */
  readonly release: string;
  /** Id of a specialism of buyers or orchestrators, snake or kebab case. */
  readonly specialism: string;
  /** A valid request of a tool, for an example. */
  readonly requestOf: (tool: string) => Promise<object | undefined>;
  /** For people; the folder's name by default. */
  readonly name?: string;
  /** What the project installs adbind from: a path or a version range; this version by default. */
  readonly adbind?: string;
}

export interface NewBuyerResult {
  readonly folder: string;
  readonly version: string;
  readonly specialism: string;
  /** Tools it calls. */
  readonly tools: readonly string[];
  /** Files written, bindings left out. */
  readonly files: readonly string[];
}

const usage = (what: string, where: string, remedy: string): AdbindError =>
  new AdbindError("usage", what, { where, remedy });

/** @throws AdbindError `usage` where the specialism is a seller's, or the release has none of those who call */
function callerIn(model: Model, given: string): SpecialismModel {
  const id = knownSpecialism(model, given);
  const found = model.specialisms.find((one) => one.id === id)!;
  if (found.role !== undefined) return found;
  const own = model.specialisms.filter(({ role }) => role !== undefined).map((one) => one.id);
  const there = own.length === 0 ? `release ${model.version} has none of buyers` : `give one of ${own.join(", ")}`;
  throw usage(`${id} is for an agent that answers its tools`, "--specialism", `${there}; adbind new seller makes it`);
}

/**
 * Makes a buyer's project.
 * @throws AdbindError `usage` for a specialism that is unknown or a seller's, or a folder that holds something
 */
export async function newBuyer(options: NewBuyerOptions): Promise<NewBuyerResult> {
  const folder = path.resolve(options.folder);
  if (existsSync(path.join(folder, "package.json")))
    throw usage("there is a project already", folder, "give an empty or a new folder");
  const model = await modelOf(options.release, false);
  const { id, entryPoints, exercised } = callerIn(model, options.specialism);
  // The entry points are what it does; the rest of what it calls stands ready in its type.
  const tools = inOrder(entryPoints.length > 0 ? entryPoints : exercised);
  const requests: Record<string, object> = {};
  for (const tool of tools) requests[tool] = (await options.requestOf(tool)) ?? {};
  const name = options.name ?? path.basename(folder);
  const adbind = options.adbind ?? thisVersion();
  const facts = {
    name,
    packageName: packageNameOf(name),
    adbind,
    cli: thisVersion(),
    word: model.word,
    version: model.version,
  };
  const files = plan(
    { ...facts, specialisms: [id], tools, open: [], awaited: [] },
    { specialism: id, requests: JSON.stringify(requests, null, 2) },
  );
  const bind = () => generateBindings(folder, [options.release], { partial: false, force: false });
  const { files: written } = await writeProject(folder, { files, bind });
  return { folder, version: model.version, specialism: id, tools, files: written };
}

/** What is looked for comes before what is bought, and what is bought before what is done with it. */
const order = [/^(get|list)_products$/, /proposal/, /^(create_media_buy|buy_products)$/];

const placeOf = (tool: string): number => {
  const at = order.findIndex((pattern) => pattern.test(tool));
  return at < 0 ? order.length : at;
};

const inOrder = (tools: readonly string[]): string[] =>
  // `request_proposals` before `refine_proposals`: what asks first stands last in the alphabet.
  [...tools].sort((a, b) => placeOf(a) - placeOf(b) || (placeOf(a) === 1 ? (a < b ? 1 : -1) : a < b ? -1 : 1));

/** What the template asks, where a project has its own tools. */
const requestLine = (tool: string): string => `  readonly ${tool}: Parameters<Tools["${tool}"]>[0];`;
const EXAMPLE = requestLine("get_products");

function plan(facts: ProjectFacts, own: { specialism: string; requests: string }): ReadonlyMap<string, string> {
  const { name, word, version, tools } = facts;
  const members = tools.map(requestLine).join("\n");
  const filled = (text: string): string =>
    text
      .replaceAll("SPECIALISM", own.specialism)
      .replace(EXAMPLE, members)
      .replace("# NAME", `# ${name}`)
      .replace("WORD VERSION", `${word} ${version}`)
      .replace("TOOLS", tools.join(", "));
  return new Map([
    ["package.json", buyerPackageJson(facts)],
    ["tsconfig.json", tsconfigJson()],
    [".gitignore", gitignore()],
    ["requests.json", `${own.requests}\n`],
    ...[...readBuyerTemplates()].map(([file, text]): [string, string] => [file, filled(text)]),
  ]);
}
