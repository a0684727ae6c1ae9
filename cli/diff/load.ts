/** `<release>` -> the two things a comparison needs of it. */
import { type DiffSide, errorSchemas, eventSchemas, sideOf } from "../../generator/diff/side.js";
import { buildModel } from "../../generator/model/build.js";
import { AdbindError } from "../../runtime/errors.js";
import { type ReleaseOptions, resolveRelease } from "../release/resolve.js";
import { soundRelease } from "../release/sound.js";
import { readSuite } from "./suite.js";
import { judgeOf } from "./validators.js";

export interface SideOptions extends ReleaseOptions {
  /** The suite of the release; by default the one that it comes with. */
  suite?: string;
}

/** @throws AdbindError release_unreadable for one that breaks a rule */
export async function loadSide(given: string, options: SideOptions = {}): Promise<DiffSide> {
  const source = await resolveRelease(given, options);
  const { release, broken } = await soundRelease(source, { given, partial: false });
  const model = buildModel(release, broken, (facts) => [
    ...eventSchemas(facts).values(),
    ...errorSchemas(release.documents.keys(), Object.keys(release.manifest.error_codes ?? {})).values(),
  ]);
  const suite = await readSuite(options.suite ?? source, options.suite !== undefined);
  return { ...sideOf(model, judgeOf(model)), ...(suite !== undefined && { suite }) };
}

export interface SidesOptions extends ReleaseOptions {
  /** Suites of both, in their order. */
  suites?: string[];
}

/**
 * Both releases, each with the suite that is named for it.
 * @throws AdbindError usage, release_unreadable
 */
export async function loadSides(
  [from, to]: readonly [string, string],
  options: SidesOptions,
): Promise<[DiffSide, DiffSide]> {
  const { suites } = options;
  if (suites !== undefined && suites.length !== 2)
    throw new AdbindError("usage", "--suites takes two folders", {
      remedy: "name that of the older release, then the other",
    });
  const [a, b] = [0, 1].map((index) => (suites === undefined ? options : { ...options, suite: suites[index]! }));
  return [await loadSide(from, a), await loadSide(to, b)];
}
