/** A release that is read and breaks no rule. */
import { formatFinding } from "../../generator/finding.js";
import { checkRelease } from "../../generator/lint/check.js";
import { loadRelease } from "../../generator/load/load.js";
import { AdbindError } from "../../runtime/errors.js";

/**
 * Reads a release and holds it against every rule.
 * @param source folder, manifest or bundle
 * @param given what the user called it, for the error
 * @param partial leave out tools whose files are missing, instead of failing
 * @throws AdbindError release_unreadable for one that breaks a rule
 */
export async function soundRelease(
  source: string,
  { given = source, partial }: { readonly given?: string; readonly partial: boolean },
) {
  const release = await loadRelease(source);
  const { findings, broken } = await checkRelease(release, { partial, levels: ["error"] });
  const [first] = findings.filter(({ level }) => level === "error");
  if (first !== undefined)
    throw new AdbindError("release_unreadable", `the release breaks a rule: ${formatFinding(first)}`, {
      where: given,
      remedy: `adbind lint ${given} lists what is wrong with it`,
    });
  return { release, broken };
}
