/** What a release has that came after adbind: it is told, and the release is read all the same. */
import { isRecovery } from "../../runtime/contract/recovery.js";
import { type Found, inManifest, pointer } from "../finding.js";
import type { LoadedRelease } from "../load/load.js";
import { type Manifest, recoveryClasses } from "../load/manifest.js";
import { isLaterLine, NEWEST_KNOWN } from "../model/facts/versions.js";

/** Classes of recovery that callers have no way to act on, and codes that have none. */
export const laterClasses = (manifest: Manifest): Found[] =>
  recoveryClasses(manifest).flatMap(([at, recovery]) => {
    if (isRecovery(recovery)) return [];
    const { default_unknown_recovery: rest } = manifest.error_code_policy;
    return recovery === undefined
      ? [
          inManifest(
            at,
            "the code has no class of recovery",
            `It has that of codes that are not listed, ${JSON.stringify(rest)}. Add "recovery" to say what callers are to do.`,
          ),
        ]
      : [
          inManifest(
            at,
            `the class of recovery ${JSON.stringify(recovery)} is none that adbind knows`,
            "It is read as terminal: nobody tries again. Look for a later adbind, which may know what to do.",
          ),
        ];
  });

/** A line of releases whose rules are not known: what no file tells is assumed. */
export const laterLine = ({ word, version }: Pick<LoadedRelease, "word" | "version">): Found[] =>
  isLaterLine(version)
    ? [
        inManifest(
          pointer(`${word}_version`),
          `adbind knows no line as new as that of ${version}: what no file of the release tells is taken to be as in ${NEWEST_KNOWN}`,
          "`adbind releases show` names each thing assumed. Look for a later adbind, which may know better.",
        ),
      ]
    : [];
