/** An explanation for a person. */
import { placeOf } from "../diff/fold.js";
import type { CodeExplained, Explained, FieldExplained, SpecialismExplained, ToolExplained } from "./subjects.js";

const names = (list: readonly string[], most = 12): string =>
  list.length === 0
    ? "none"
    : list.slice(0, most).join(", ") + (list.length > most ? ` and ${list.length - most} more` : "");

const lived = ({ first, last }: { first?: string; last?: string }): string[] =>
  first === undefined ? [] : [`in releases at hand from ${first}${last === undefined ? "" : ` to ${last}`}`];

const codeLines = (one: CodeExplained): string[] => [
  `${one.code}: ${one.recovery}`,
  one.description,
  `who acts: ${one.acts}`,
  ...(one.suggestion === "" ? [] : [`do: ${one.suggestion}`]),
  `schemas that speak of it: ${names(one.tools)}`,
  ...lived(one),
  `as it travels: ${JSON.stringify(one.sample)}`,
];

const toolLines = (one: ToolExplained): string[] => [
  `${one.tool} (${one.protocol}): ${one.summary}`,
  `${one.mutating ? "it writes" : "it reads"}; idempotency key ${one.idempotency}`,
  `request ${one.request.schema}: demands ${names(one.request.required)}; takes ${names(one.request.optional)}`,
  ...one.arms.map(
    ({ status, schema, required }) =>
      `answers ${status}${schema === undefined ? "" : ` with ${schema}`}${required.length > 0 ? `: ${names(required)}` : ""}`,
  ),
  `specialisms that exercise it: ${names(one.specialisms)}`,
  ...(one.deprecatedIn === undefined ? [] : [`deprecated in ${one.deprecatedIn}`]),
  ...(one.supersededBy === undefined ? [] : [`superseded by ${names(one.supersededBy)}`]),
  ...(one.fallback === undefined ? [] : [`where a seller lacks it: ${JSON.stringify(one.fallback)}`]),
  ...lived(one),
  ...(one.sample === undefined ? [] : [`a request: ${JSON.stringify(one.sample)}`]),
];

const specialismLines = (one: SpecialismExplained): string[] => [
  `${one.specialism}${one.title === undefined ? "" : `: ${one.title}`} (${one.protocol}${one.role === undefined ? "" : `, of the ${one.role}`})`,
  `who claims it answers: ${names(one.entryPoints)}`,
  `graded with: ${names(one.exercised, 30)}`,
  ...(one.harness.length > 0 ? [`steps of the graders: ${names(one.harness)}`] : []),
  ...lived(one),
];

const fieldLines = (one: FieldExplained): string[] => [
  `${one.field}: ${one.places.length + one.more} places`,
  ...one.places.flatMap(({ tool, side, at, holds, required, deprecated, description, pointer }) => [
    `${tool} ${side} ${at}: ${holds}${required ? ", demanded" : ""}${deprecated ? ", deprecated" : ""}  [${pointer}]`,
    ...(description === undefined ? [] : [`  ${description.split("\n")[0]!.slice(0, 200)}`]),
  ]),
  ...(one.more > 0 ? [`and ${one.more} more; tool.field names those of one tool`] : []),
];

/** @returns lines without line breaks */
export function explainedLines(explained: Explained): string[] {
  switch (explained.kind) {
    case "code":
      return codeLines(explained);
    case "tool":
      return toolLines(explained);
    case "specialism":
      return specialismLines(explained);
    case "field":
      return fieldLines(explained);
    case "finding": {
      const { finding, rule } = explained;
      const { id, verdict, message, breaks, undecided, reason, fix, witnesses = [] } = finding;
      return [
        `${id}: ${placeOf(finding)}: ${message}`,
        `${finding.rule}: ${rule}; ${verdict}`,
        ...(breaks.length > 0 ? [`breaks ${breaks.join(", ")}`] : []),
        ...(undecided.length > 0 ? [`open for ${undecided.join(", ")}`] : []),
        ...(reason === undefined ? [] : [`because ${reason}`]),
        `do: ${fix}`,
        ...witnesses.map((one) =>
          one.kind === "payload"
            ? `${one.pairing}: ${one.accepts} accepts and ${one.refuses} refuses (${one.because}) ${JSON.stringify(one.payload)}`
            : `${one.pairing}: ${JSON.stringify(one.from)} -> ${JSON.stringify(one.to)}`,
        ),
      ];
    }
  }
}
