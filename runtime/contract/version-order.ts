/** The order of versions: precedence of SemVer 2.0.0, section 11. */

const digits = /^\d+$/;

/** Names between dots, one after the other: numbers by their size and before words; of two that begin alike the shorter first. */
function compareNames(a: string, b: string): number {
  const [mine, others] = [a.split("."), b.split(".")];
  const at = mine.findIndex((name, index) => name !== others[index]);
  const [one, other] = [mine[at], others[at]];
  if (one === undefined || other === undefined) return mine.length - others.length;
  const [isNumber, isOtherNumber] = [digits.test(one), digits.test(other)];
  if (isNumber && isOtherNumber) return Number(one) - Number(other);
  if (isNumber !== isOtherNumber) return isNumber ? -1 : 1;
  return one < other ? -1 : 1;
}

/**
 * Compares two versions of releases, such as `3.2.0-beta.4` and `3.2.0`; for `sort`, which then gives the oldest first.
 * @returns below 0 where `a` is the older, above 0 where `b` is; a pre-release is older than its release
 */
export function compareVersions(a: string, b: string): number {
  const [[core, ...before], [otherCore, ...otherBefore]] = [a.split("-"), b.split("-")] as [
    [string, ...string[]],
    [string, ...string[]],
  ];
  if (core !== otherCore) return compareNames(core, otherCore);
  if (before.length === 0 || otherBefore.length === 0) return otherBefore.length - before.length;
  return compareNames(before.join("-"), otherBefore.join("-"));
}
