/** `adbind.config.json`: what `adbind generate` does where it stands, so that nobody has to type it. */
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import type { ErrorObject } from "ajv";
import type { ImportExtension } from "../generator/emit/import-extension.js";
import type { ReleasePart } from "../generator/load/part.js";
import { readJson } from "../generator/load/read-json.js";
import { AdbindError } from "../runtime/errors.js";
import { userPath } from "./output.js";
import { nameIn } from "./release/name.js";
import { readUserFile } from "./user-file.js";

export interface Config {
  /** Paths and names, the paths absolute. */
  readonly releases?: readonly string[];
  /** Absolute. */
  readonly out?: string;
  readonly standalone?: boolean;
  readonly open?: boolean;
  readonly importExtension?: ImportExtension;
  readonly partial?: boolean;
  readonly source?: string;
  readonly filters?: ReleasePart;
}

const FILE = "adbind.config.json";

/** The schema the package ships for editors stands at its root, one level above `cli/` or two above `dist/cli/`. */
function schemaOfConfig(): object {
  const candidates = ["..", "../.."].map((up) => path.resolve(import.meta.dirname, up, "adbind.config.schema.json"));
  return JSON.parse(readFileSync(candidates.find(existsSync) ?? candidates[0]!, "utf8"));
}

const off = (file: string, pointer: string, what: string, remedy: string): AdbindError =>
  new AdbindError("usage", what, { where: pointer === "" ? file : `${file}#${pointer}`, remedy });

function faultOf(file: string, error: ErrorObject): AdbindError {
  if (error.keyword === "additionalProperties") {
    const name = String(error.params.additionalProperty);
    const known = Object.keys((error.parentSchema as { properties: object }).properties).join(", ");
    return off(file, `${error.instancePath}/${name}`, "there is no such setting", `use one of ${known}`);
  }
  return off(file, error.instancePath, `the setting ${error.message ?? error.keyword}`, "correct the value");
}

/** A place as the config file means it: from its own folder. URLs, and names of releases, stay as they are. */
const placeFrom = (folder: string, given: string): string =>
  /^[a-z][a-z0-9+.-]*:\/\//i.test(given) ? given : path.resolve(folder, given);

const releaseFrom = (folder: string, given: string): string => {
  const place = path.resolve(folder, given);
  return nameIn(given) !== undefined && !existsSync(place) ? given : place;
};

/**
 * Reads the config: the one that is given, or the one in the user's folder, if any.
 * @throws AdbindError usage, with file, pointer and remedy
 */
export async function readGenerateConfig(given: string | undefined): Promise<Config> {
  const file = userPath(given ?? FILE);
  if (!existsSync(file)) {
    if (given === undefined) return {};
    throw off(file, "", "there is no such config file", "correct the path, or leave --config out");
  }
  const { value, findings } = readJson(readUserFile(file), FILE);
  const [fault] = findings;
  if (fault !== undefined) throw off(file, fault.pointer, fault.message, fault.remedy);
  const { Ajv } = await import("ajv");
  const ajv = new Ajv({ allErrors: false, verbose: true });
  const validate = ajv.compile(schemaOfConfig());
  if (!validate(value)) throw faultOf(file, validate.errors![0]!);
  const config = value as unknown as Config;
  const folder = path.dirname(file);
  return {
    ...config,
    ...(config.releases !== undefined && { releases: config.releases.map((one) => releaseFrom(folder, one)) }),
    ...(config.out !== undefined && { out: path.resolve(folder, config.out) }),
    ...(config.source !== undefined && { source: placeFrom(folder, config.source) }),
  };
}
