/** Files and folders that import each other: neither can be read, tested or moved without the other. */
import { roomsOf } from "./ranks.js";
import { type Finding, folderOf, type Rule, type Source } from "./source.js";

/** Generated types refer to each other as their schemas do. */
const ours = (sources: readonly Source[]): Source[] => sources.filter(({ path }) => !path.startsWith("generated/"));

const reach = (from: string, next: ReadonlyMap<string, readonly string[]>): Set<string> => {
  const seen = new Set<string>();
  const waiting = [...(next.get(from) ?? [])];
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (seen.has(file)) continue;
    seen.add(file);
    waiting.push(...(next.get(file) ?? []));
  }
  return seen;
};

/** Takes files away that import nothing which is left, over and over: what stays is in a circle or leads into one. */
function peeled(graph: ReadonlyMap<string, readonly string[]>): Map<string, string[]> {
  let left = new Map([...graph].map(([file, used]) => [file, [...used]]));
  for (;;) {
    const rest = [...left].map(([file, used]): [string, string[]] => [file, used.filter((one) => left.has(one))]);
    const kept = new Map(rest.filter(([, used]) => used.length > 0));
    if (kept.size === left.size) return kept;
    left = kept;
  }
}

/** An import circle between files, wherever they stand; type-only imports and `import()` count. Generated code is aside. */
export const circlesRule: Rule = (sources) => {
  const files = ours(sources);
  const graph = peeled(new Map(files.map(({ path, imports }) => [path, imports.flatMap(({ file }) => file ?? [])])));
  const told = new Set<string>();
  return [...graph.keys()].sort().flatMap((start): Finding[] => {
    if (told.has(start)) return [];
    const circle = [...reach(start, graph)].filter((file) => reach(file, graph).has(start)).sort();
    if (circle.length === 0) return [];
    for (const file of circle) told.add(file);
    const into = files.find(({ path }) => path === start)?.imports.find(({ file }) => circle.includes(file ?? ""));
    const message = `imports itself by way of ${circle.join(", ")}: take what they share into a file of its own`;
    return [{ key: circle.join(" <-> "), file: start, line: into?.line ?? 1, message }];
  });
};

/** A door: an index that only passes on what others declare. It imports a folder's all, and nothing in it is imported back. */
const isDoor = ({ path, tree, imports }: Source): boolean =>
  path.endsWith("/index.ts") &&
  imports.length > 0 &&
  tree?.statements.every((statement) => "moduleSpecifier" in statement && statement.moduleSpecifier !== undefined) ===
    true;

/** Between a room and a folder in it, the room's ranks decide: some loose files stand below the folder, some above it. */
const isRanked = (one: string, other: string): boolean =>
  (one.startsWith(other) && roomsOf(one).includes(other)) || (other.startsWith(one) && roomsOf(other).includes(one));

/** Two folders whose files import from each other, type-only imports too; doors do not count. */
export const folderPairsRule: Rule = (sources) => {
  const seen = new Map<string, { from: string; line: number; into: string }>();
  for (const source of ours(sources).filter((one) => !isDoor(one)))
    for (const { file, line } of source.imports)
      if (file !== undefined && folderOf(file) !== folderOf(source.path)) {
        const pair = `${folderOf(source.path)} ${folderOf(file)}`;
        if (!seen.has(pair)) seen.set(pair, { from: source.path, line, into: file });
      }
  return [...seen].flatMap(([pair, { from, line, into }]) => {
    const [one = "", other = ""] = pair.split(" ");
    const back = seen.get(`${other} ${one}`);
    if (one > other || back === undefined || isRanked(one, other)) return [];
    const message = `imports ${into}, and ${back.from}:${back.line} imports back: move what both need below them`;
    return [{ key: `${one} <-> ${other}`, file: from, line, message }];
  });
};
