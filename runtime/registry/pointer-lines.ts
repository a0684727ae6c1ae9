/** Lines of a JSON text that pointers lead to, for people who have it in an editor. */
import { isNode, LineCounter, parseDocument } from "yaml";

/** Longest text that is looked through, in characters: reading it with its places takes some hundred times its parsing. */
const MAX_CHARACTERS = 4_000_000;
/** And where others wait meanwhile. */
export const SERVED_CHARACTERS = 200_000;

const stepsOf = (pointer: string): (string | number)[] =>
  pointer
    .split("/")
    .slice(1)
    .map((step) => (/^\d+$/.test(step) ? Number(step) : step.replaceAll("~1", "/").replaceAll("~0", "~")));

/**
 * @param text of the file, as it stands in it
 * @param pointers JSON pointers; one to something that is not there leads to what it would be in
 * @param most longest text, in characters
 * @returns line by pointer, from 1; none where the text is too long, or no JSON
 */
export function linesOfPointers(
  text: string,
  pointers: readonly string[],
  most = MAX_CHARACTERS,
): ReadonlyMap<string, number> {
  const lines = new Map<string, number>();
  if (text.length > most || pointers.length === 0) return lines;
  const counter = new LineCounter();
  // A YAML document may be written as JSON is; this reader keeps the place of every value.
  const document = parseDocument(text, { lineCounter: counter, uniqueKeys: false, logLevel: "silent" });
  for (const pointer of pointers) {
    for (let steps = stepsOf(pointer); ; steps = steps.slice(0, -1)) {
      const node = steps.length === 0 ? document.contents : document.getIn(steps, true);
      if (isNode(node) && node.range) lines.set(pointer, counter.linePos(node.range[0]).line);
      else if (steps.length > 0) continue;
      break;
    }
  }
  return lines;
}
