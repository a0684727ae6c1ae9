/** What the emitter may know: shapes. And what shapes may not know: the language that is emitted. */
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";

const root = path.resolve(import.meta.dirname, "../..");

const importsOf = (file: string): string[] =>
  [...readFileSync(path.join(root, file), "utf8").matchAll(/\bfrom "([^"]+)"|\bimport\("([^"]+)"\)/g)]
    .map((match) => match[1] ?? match[2]!)
    .filter((target) => target.startsWith("."))
    .map((target) => path.posix.join(path.posix.dirname(file), target));

const filesOf = (room: string): string[] =>
  globSync(`generator/${room}/**/*.ts`, { cwd: root }).map((file) => file.split(path.sep).join("/"));

/** A room, and the rooms of the generator it may not import. */
const refused: [room: string, others: string[]][] = [
  ["emit", ["load", "lint", "scaffold"]],
  ["model", ["emit", "scaffold"]],
  ["lint", ["emit", "scaffold"]],
  ["load", ["model", "emit", "lint", "scaffold"]],
];

for (const [room, others] of refused) {
  test(`${room} imports nothing of ${others.join(", ")}`, () => {
    const files = filesOf(room);
    assert.ok(files.length > 0);
    const found = files.flatMap((file) =>
      importsOf(file)
        .filter((target) => others.some((other) => target.startsWith(`generator/${other}/`)))
        .map((target) => `${file} imports ${target}`),
    );
    assert.equal(found, []);
  });
}

test("a shape knows neither the schemas it was read from nor the file system", () => {
  assert.equal(importsOf("generator/model/shape.ts"), []);
});

test.run();
