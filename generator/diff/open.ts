/** What stays open below the same alternatives is one question: does another of them take in what one refuses? */
import { type DiffFinding, findingId, type Pairing } from "./finding.js";
import type { Message } from "./prove.js";
import { fixOf } from "./rules.js";

interface Row {
  readonly within: string | undefined;
  readonly finding: DiffFinding;
}

const isOpen = ({ within, finding }: Row): boolean => within !== undefined && finding.verdict === "undecided";

const SHOWN = 3;

function folded({ tool, side, about }: Message, rows: readonly Row[]): DiffFinding {
  const [{ within = "", finding: first }] = rows as [Row];
  const said = rows.slice(0, SHOWN).map(({ finding }) => `${finding.at || "/"} ${finding.message}`);
  const undecided = [...new Set(rows.flatMap(({ finding }) => finding.undecided))].sort() as Pairing[];
  return {
    ...first,
    id: findingId("alternatives-changed", tool, side, `${about ?? ""}${within} inside`),
    rule: "alternatives-changed",
    at: within,
    message: `${rows.length} changes inside its alternatives: ${said.join("; ")}${rows.length > SHOWN ? "; ..." : ""}`,
    undecided,
    reason:
      "another alternative may take in what one refuses: no payload was found that all refuse, and nothing proves that there is none",
    fix: fixOf("alternatives-changed"),
  };
}

/** Several open findings below one place of alternatives become one; the others stay as they are. */
export function withOpenFolded(message: Message, rows: readonly Row[]): DiffFinding[] {
  const groups = Map.groupBy(rows.filter(isOpen), ({ within }) => within!);
  const shut = rows.filter((row) => !isOpen(row)).map(({ finding }) => finding);
  const open = [...groups.values()].map((group) => (group.length === 1 ? group[0]!.finding : folded(message, group)));
  return [...shut, ...open];
}
