/** Hard requirements that a brief states in words, where the buyer should have sent them as targeting. */
import type { Overlay } from "./overlay.js";

const LETTERS = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"];
let named: ReadonlyMap<string, string> | undefined;

/** Codes of countries by their English names, and by what people call them. */
function countries(): ReadonlyMap<string, string> {
  if (named !== undefined) return named;
  const names = new Intl.DisplayNames(["en"], { type: "region", fallback: "none" });
  const all = LETTERS.flatMap((first) => LETTERS.map((second) => first + second));
  const known = all.flatMap((code): [string, string][] => {
    const name = names.of(code);
    return name === undefined
      ? []
      : [
          [name.toLowerCase(), code],
          [code.toLowerCase(), code],
        ];
  });
  named = new Map([...known, ["usa", "US"], ["uk", "GB"], ["britain", "GB"]]);
  return named;
}

const ONLY_IN = /\bonly\s+(?:in|within)\s+(?:the\s+)?([\p{L}][\p{L} ]*?)(?=\s+and\b|[.,;:]|$)/iu;
const ONLY_AGES = /\bonly\b[^.;]*?\bages?\s+(\d{1,2})\s*(?:through|to|until|-|–)\s*(\d{1,2})\b/i;

/** What the brief says to deliver to and to nobody else; undefined where it says no such thing. */
export function hardTargeting(brief: string): Overlay | undefined {
  const country = countries().get(ONLY_IN.exec(brief)?.[1]?.trim().toLowerCase() ?? "");
  const ages = ONLY_AGES.exec(brief);
  if (country === undefined && ages === null) return undefined;
  return {
    ...(country !== undefined && { geo_countries: [country] }),
    ...(ages !== null && {
      demographics: { age: { min: Number(ages[1]), max: Number(ages[2]), include_unknown: false } },
    }),
  };
}
