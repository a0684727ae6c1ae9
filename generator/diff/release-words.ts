/** What two releases say in words, and what their suites grade: no payload shows it, so both are quoted. */
import type { DiffFinding, Pairing, Stability } from "./finding.js";
import { releaseFinding, type ToldChange } from "./release-side.js";
import type { RuleId } from "./rules.js";
import { compareSentences } from "./sentences.js";
import type { DiffSide } from "./side.js";
import type { DiffSuite, SuiteItem } from "./suite.js";

const quoted = (text: string): string => JSON.stringify(text.length > 160 ? `${text.slice(0, 157)}...` : text);

const more = (count: number): string => (count > 1 ? ` and ${count - 1} more` : "");

/** Who kept the older sentences may not keep the newer ones, and the other way round. */
const NEWER: Pairing[] = ["old-caller>new-seller", "old-seller>new-caller"];
const OLDER: Pairing[] = ["new-caller>old-seller", "new-seller>old-caller"];

/** Of files that both have: what is new with a new message is told with the message. */
export function compareWords(a: DiffSide, b: DiffSide, stability: Stability): DiffFinding[] {
  const both = a.model.documents.filter(({ path }) => b.model.resolve(path) !== undefined).map(({ path }) => path);
  return both.flatMap((path): DiffFinding[] => {
    const change = compareSentences(a.sentences.get(path) ?? [], b.sentences.get(path) ?? []);
    const { added, removed, altered } = change;
    const told = (rule: RuleId, undecided: Pairing[], from: readonly string[], to: readonly string[]): DiffFinding[] =>
      from.length + to.length === 0
        ? []
        : [
            releaseFinding(
              {
                rule,
                at: `sentence/${path}`,
                file: path,
                message: [
                  ...[from, to].filter((list) => list.length > 0).map((list) => quoted(list[0]!) + more(list.length)),
                ].join(" -> "),
                from: [...from],
                to: [...to],
                undecided,
                reason: "what a sentence demands no schema tells: it is for a person to read",
              },
              stability,
            ),
          ];
    return [
      ...told("sentence-added", NEWER, [], added),
      ...told("sentence-removed", OLDER, removed, []),
      ...told(
        "sentence-altered",
        [...NEWER, ...OLDER],
        altered.map(([before]) => before),
        altered.map(([, now]) => now),
      ),
    ];
  });
}

/** By the file: a storyboard is read as one. */
const fileOf = ({ at }: SuiteItem): string => at.split("#")[0]!;

type Change = "added" | "removed" | "changed";

const ruleOf = (sort: "step" | "vector", how: Change): RuleId =>
  sort === "step" ? `storyboard-step-${how}` : `vector-${how}`;

function suiteTold(sort: "step" | "vector", a: DiffSuite, b: DiffSuite): ToldChange[] {
  const [before, now] = sort === "step" ? [a.steps, b.steps] : [a.vectors, b.vectors];
  const items = [...before.values(), ...now.values()];
  const groups = Map.groupBy(items, fileOf);
  return [...groups]
    .sort(([one], [two]) => (one < two ? -1 : 1))
    .flatMap(([file, group]): ToldChange[] => {
      const places = [...new Set(group.map(({ at }) => at))].sort();
      const changed = {
        added: places.filter((at) => !before.has(at)),
        removed: places.filter((at) => !now.has(at)),
        changed: places.filter((at) => before.has(at) && now.has(at) && before.get(at)!.digest !== now.get(at)!.digest),
      };
      return Object.entries(changed).flatMap(([how, list]): ToldChange[] => {
        if (list.length === 0) return [];
        const names = list.map((at) => at.split("#")[1] ?? at);
        const stale: Pairing[] = how === "removed" ? [] : ["new-caller>old-seller"];
        return [
          {
            rule: ruleOf(sort, how as Change),
            at: `suite/${file}`,
            file,
            message: names.slice(0, 6).join(", ") + (names.length > 6 ? ` and ${names.length - 6} more` : ""),
            from: how === "added" ? null : list.map((at) => `${at} ${before.get(at)!.digest.slice(0, 12)}`),
            to: how === "removed" ? null : list.map((at) => `${at} ${now.get(at)!.digest.slice(0, 12)}`),
            undecided: stale,
            reason:
              how === "removed"
                ? "what is graded no more nobody fails"
                : "whether a seller of the older release passes it only running it tells",
          },
        ];
      });
    });
}

/** Steps and vectors that are graded anew, otherwise, or no more. */
export const compareSuites = (a: DiffSuite, b: DiffSuite, stability: Stability): DiffFinding[] =>
  [...suiteTold("step", a, b), ...suiteTold("vector", a, b)].map((told) => releaseFinding(told, stability));
