/** Findings that touch a project: of the tools, fields, codes and specialisms that its sources mention. */
import type { DiffFinding } from "../../generator/diff/finding.js";
import type { DiffSide } from "../../generator/diff/side.js";
import type { Mention, Mentions } from "./mentions.js";

/** Places that are told of one finding. */
const SHOWN = 5;

/** What must be done wherever the object is made or read, whether its name is mentioned or not. */
const demands = new Set([
  "required-property-added",
  "property-required",
  "required-property-removed",
  "capability-demanded",
  "alternatives-demanded",
  "alternatives-changed",
  "alternative-removed",
  "condition-added",
  "condition-changed",
  "object-closed",
  "arm-added",
  "arm-removed",
]);

/** Whoever reads an error may meet a code that it does not know. */
const general = new Set(["default-recovery"]);

const namesAt = (at: string): string[] => at.split("/").filter((step) => step !== "" && step !== "-" && step !== "*");

/** The property that a finding is about, where its rule is about one of the object at the place. */
const propertyOf = ({ rule, message }: DiffFinding): string[] =>
  rule.includes("property") ? [...message.matchAll(/"((?:[^"\\]|\\.)*)"/g)].slice(0, 1).map((match) => match[1]!) : [];

function ofMessage(one: DiffFinding, mentions: Mentions): readonly Mention[] {
  const tool = one.tool === null ? [] : mentions.ofTool(one.tool);
  if (one.tool !== null && tool.length === 0) return [];
  const path = namesAt(one.at);
  const names = demands.has(one.rule) ? path : [...path, ...propertyOf(one)];
  if (names.length === 0) return tool;
  const places = names.map((name) => mentions.of(name));
  if (places.some((list) => list.length === 0)) return [];
  return places.at(-1)!;
}

function ofWebhook(one: DiffFinding, mentions: Mentions): readonly Mention[] {
  const kinds = (one.about ?? "").split(", ");
  const own = kinds.flatMap((kind) => mentions.of(kind));
  return own.length > 0 || !kinds.includes("task") ? own : mentions.of("adbind/receiver");
}

/** Who sells is graded by what is universal, and by the storyboards of the specialisms that it claims. */
function ofSuite(file: string, mentions: Mentions, sides: readonly DiffSide[]): readonly Mention[] {
  if (file.startsWith("universal/")) return mentions.of("adbind/seller");
  const claimed = sides.flatMap(({ model }) => model.specialisms.map(({ id }) => id));
  return [...new Set(claimed)]
    .filter((id) => file.startsWith(`specialisms/${id.replaceAll("_", "-")}/`))
    .flatMap((id) => [...mentions.of(id), ...mentions.of(id.replaceAll("_", "-"))]);
}

function ofRelease(one: DiffFinding, mentions: Mentions, sides: readonly DiffSide[]): readonly Mention[] {
  const [sort, name = ""] = one.at.split(/\/(.*)/s);
  if (one.rule === "tool-added") return [];
  if (sort === "tool") return mentions.ofTool(name);
  if (sort === "code") return mentions.of(name);
  if (sort === "specialism") return [...mentions.of(name), ...mentions.of(name.replaceAll("_", "-"))];
  if (sort === "sentence")
    return sides.flatMap(({ model }) =>
      model.tools
        .filter(({ request, response }) => request === name || response === name)
        .flatMap((tool) => mentions.ofTool(tool.name)),
    );
  if (sort === "suite") return ofSuite(name, mentions, sides);
  return [];
}

/** Where a project mentions what a finding is about; undefined where it is not touched. */
function touched(one: DiffFinding, mentions: Mentions, sides: readonly DiffSide[]): readonly Mention[] | undefined {
  if (general.has(one.rule)) return [];
  const places =
    one.side === "release"
      ? ofRelease(one, mentions, sides)
      : one.side === "webhook"
        ? ofWebhook(one, mentions)
        : ofMessage(one, mentions);
  return places.length === 0 ? undefined : places;
}

/** @returns the findings that touch the project, each with a few of the places */
export function usedBy(
  findings: readonly DiffFinding[],
  mentions: Mentions,
  sides: readonly DiffSide[],
): DiffFinding[] {
  return findings.flatMap((one) => {
    const places = touched(one, mentions, sides);
    if (places === undefined) return [];
    const usedAt = [...new Set(places.map(({ file, line }) => `${file}:${line}`))].slice(0, SHOWN);
    return [{ ...one, ...(usedAt.length > 0 && { usedAt }) }];
  });
}
