/** The short form of `./run faults receiver`. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { cellsOf } from "../support/cells.js";
import { judged } from "../support/judged.js";
import { audit } from "./receiver-run.js";

const KILLS = 6;

test("the audit sees what is lost, doubled and out of order", () => {
  const sent = new Map([
    ["t", ["a", "b"]],
    ["u", ["c"]],
  ]);
  const rows = (...keys: string[]) => keys.map((key) => ({ task: key === "c" ? "u" : "t", key }));
  assert.equal(audit(sent, rows("a", "c", "b")), { lost: 0, doubled: 0, disordered: 0 });
  assert.equal(audit(sent, rows("b", "a", "c")), { lost: 0, doubled: 0, disordered: 1 });
  assert.equal(audit(sent, rows("a", "a", "b")), { lost: 1, doubled: 1, disordered: 1 });
});

/** One process on one database, or on three with a fourth that is added meanwhile. */
const cells = ["sqlite", "postgres", "sqlite in three", "postgres in three"];

for (const cell of cellsOf("./run faults receiver, --split 3", cells, 1)) {
  const [engine, , three] = cell.split(" ");
  test(`${cell}: ${KILLS} kills lose nothing and apply nothing twice`, async () => {
    const split = three === undefined ? [] : ["--split", "3"];
    await judged(["test/faults/receiver.ts", ...split, "--kills", `${KILLS}`, "--engine", engine!], {
      unit: "kills",
      passed: KILLS,
    });
  });
}

test.run();
