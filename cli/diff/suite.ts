/** Storyboards and vectors from disk: beside a release, inside its bundle, or in a folder that is named. */
import { existsSync, globSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { list } from "tar";
import { parse } from "yaml";
import { type DiffSuite, suiteOf } from "../../generator/diff/suite.js";
import { AdbindError } from "../../runtime/errors.js";
import { userPath } from "../output.js";

/** What a bundle calls the folder; schemas are in its neighbour. */
const FOLDER = "compliance";

const isPart = (file: string): boolean => /\.(ya?ml|json)$/.test(file);

/** A document that cannot be read says nothing: suites hold examples of broken ones. */
function parsed(text: string, file: string): unknown {
  try {
    return file.endsWith(".json") ? JSON.parse(text) : parse(text, { logLevel: "silent" });
  } catch {
    return undefined;
  }
}

function fromFolder(folder: string): Map<string, unknown> {
  const files = globSync("**/*", { cwd: folder }).map((file) => file.split(path.sep).join("/"));
  return new Map(
    files.filter(isPart).map((file) => [file, parsed(readFileSync(path.join(folder, file), "utf8"), file)]),
  );
}

async function fromBundle(archive: string): Promise<Map<string, unknown>> {
  const documents = new Map<string, unknown>();
  const inside = new RegExp(`^(?:\\./)?[^/]+/${FOLDER}/`);
  await list({
    file: archive,
    onReadEntry: (entry) => {
      if (!inside.test(entry.path) || !isPart(entry.path)) {
        entry.resume();
        return;
      }
      const chunks: Buffer[] = [];
      const name = entry.path.replace(inside, "");
      entry.on("data", (chunk: Buffer) => chunks.push(chunk));
      entry.on("end", () => documents.set(name, parsed(Buffer.concat(chunks).toString("utf8"), name)));
    },
  });
  return documents;
}

/** Where an unpacked bundle has the suite of its schemas. */
const beside = (release: string): string => path.join(path.dirname(release), FOLDER);

const isUnpacked = (release: string): boolean => path.basename(release) === "schemas" && existsSync(beside(release));

/**
 * @param place a release, or the suite itself
 * @param named the user named it, and it must be there
 * @returns undefined where the release has no suite
 * @throws AdbindError usage for a folder that is named and not there
 */
export async function readSuite(place: string, named: boolean): Promise<DiffSuite | undefined> {
  if (named) {
    const folder = userPath(place);
    if (existsSync(folder)) return suiteOf(fromFolder(folder));
    throw new AdbindError("usage", "--suites names a folder that is not there", {
      where: place,
      remedy: "name the folder that holds the storyboards of each release",
    });
  }
  if (!existsSync(place)) return undefined;
  if (isUnpacked(place)) return suiteOf(fromFolder(beside(place)));
  if (!statSync(place).isFile() || !/\.t?gz$/.test(place)) return undefined;
  const documents = await fromBundle(place);
  return documents.size === 0 ? undefined : suiteOf(documents);
}
