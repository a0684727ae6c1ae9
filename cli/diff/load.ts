/** `<release>` -> the two things a comparison needs of it. */
import type { DiffSide } from "../../generator/diff/diff.js";
import { checkNames } from "../../generator/emit/names.js";
import { formatFinding } from "../../generator/finding.js";
import { checkRelease } from "../../generator/lint/check.js";
import { loadRelease } from "../../generator/load/load.js";
import { buildModel } from "../../generator/model/build.js";
import { AdbindError } from "../../runtime/errors.js";
import { type ReleaseOptions, resolveRelease } from "../release/resolve.js";
import { judgeOf } from "./validators.js";

/** @throws AdbindError release_unreadable for one that breaks a rule */
export async function loadSide(given: string, options: ReleaseOptions = {}): Promise<DiffSide> {
  const release = await loadRelease(await resolveRelease(given, options));
  const { findings, broken } = await checkRelease(release, { checkNames, partial: false, levels: ["error"] });
  const [first] = findings.filter(({ level }) => level === "error");
  if (first !== undefined)
    throw new AdbindError("release_unreadable", `the release breaks a rule: ${formatFinding(first)}`, {
      where: given,
      remedy: `adbind lint ${given} lists what is wrong with it`,
    });
  const model = buildModel(release, broken);
  return { model, judge: judgeOf(model) };
}
