/** The order inside a room: from the bottom up, a rank imports its own rank and those below it. */

import { ranks } from "./rank-table.js";
import { within } from "./rooms.js";
import type { Finding, Rule, Source } from "./source.js";

/** The longest room that holds a path and has ranks. */
const roomOf = (path: string): string | undefined =>
  Object.keys(ranks)
    .filter((room) => within(room, path))
    .sort((left, right) => right.length - left.length)[0];

/** What a path is called in a room: a folder with its `/`, or a file without its ending. */
const nameIn = (room: string, path: string): string => {
  const rest = path.slice(room.length);
  const slash = rest.indexOf("/");
  return slash < 0 ? rest.replace(/\.ts$/, "") : rest.slice(0, slash + 1);
};

function rankOf(room: string, name: string): number {
  const order = ranks[room] ?? [];
  const named = order.findIndex((rank) => rank.split(" ").includes(name));
  return named >= 0 || name.endsWith("/") ? named : order.indexOf("*");
}

/** Ranks hold in the innermost room that both ends share. */
function upward(room: string, file: Source): Finding[] {
  const own = nameIn(room, file.path);
  return file.imports.flatMap((used) => {
    if (used.file === undefined || !within(room, used.file)) return [];
    const other = nameIn(room, used.file);
    if (other === own || rankOf(room, other) <= rankOf(room, own)) return [];
    const message = `imports ${used.file}, which stands above it in ${room}: move what it needs down`;
    return [{ key: `${file.path} -> ${used.file}`, file: file.path, line: used.line, message }];
  });
}

function unranked(file: Source): Finding[] {
  if (!/^(runtime|generator)\/./.test(file.path) || /^runtime\/[^/]+$/.test(file.path)) return [];
  const room = roomOf(file.path);
  const name = room === undefined ? file.path : nameIn(room, file.path);
  if (room !== undefined && rankOf(room, name) >= 0) return [];
  const missing = room === undefined ? `${file.path.split("/").slice(0, 2).join("/")}/` : room + name;
  const message = `${missing} has no rank: give it one in test/house/rank-table.ts`;
  return [{ key: missing, file: file.path, line: 1, message }];
}

/** Every room of a path that has ranks. */
export const roomsOf = (path: string): string[] => Object.keys(ranks).filter((room) => within(room, path));

/** Imports within a room of runtime/ and generator/ go down its ranks, type-only ones too. */
export const ranksRule: Rule = (sources) =>
  sources.flatMap((file) => [...unranked(file), ...roomsOf(file.path).flatMap((room) => upward(room, file))]);
