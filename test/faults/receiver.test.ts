/** What `./run faults receiver` holds receivers to. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { audit } from "./receiver-run.js";

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

test.run();
