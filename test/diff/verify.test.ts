/** `--verify` must be able to contradict: a false witness, a false "safe", and a break that nobody told are found. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { loadSide } from "../../cli/diff/load.js";
import { verify } from "../../cli/diff/verify.js";
import { diffReleases } from "../../generator/diff/diff.js";
import type { DiffFinding, DiffReport } from "../../generator/diff/finding.js";
import { changedRelease, smallRelease, writeRelease } from "../support/release.js";

const REQUEST = "media-buy/list-orders-request.json";

const sides = [
  await loadSide(writeRelease(smallRelease())),
  await loadSide(
    changedRelease((files) => {
      files["manifest.json"].proto_version = "1.3.0";
      files[REQUEST].required = ["unheard"];
    }),
  ),
] as const;
const report = diffReleases(...sides);
const isBreak = ({ tool, side }: DiffFinding): boolean => tool === "list_orders" && side === "request";
const found = report.findings.find(isBreak)!;

const changed = (change: (one: DiffFinding) => DiffFinding[]): DiffReport => ({
  ...report,
  findings: report.findings.flatMap((one) => (isBreak(one) ? change(one) : [one])),
});

test("what was found is confirmed", () => {
  const { disputed, withdrawn, unsaid, witnesses, payloads } = verify(report, sides);
  assert.equal([disputed, withdrawn, unsaid], [[], [], []]);
  assert.ok(witnesses > 0 && payloads > 0);
});

test("a payload that both accept is no witness: the finding is undecided, with the reason", () => {
  const witness = { ...found.witnesses![0]!, payload: { unheard: 1 } } as NonNullable<DiffFinding["witness"]>;
  const { disputed, findings } = verify(
    changed((one) => [{ ...one, witness, witnesses: [witness] }]),
    sides,
  );
  assert.equal(disputed, [found.id]);
  const doubted = findings.find(isBreak)!;
  assert.equal([doubted.verdict, doubted.breaks, doubted.witness], ["undecided", [], undefined]);
  assert.match(doubted.reason!, "two validators disagree");
});

test("what says safe where a generated payload is refused is safe no more", () => {
  const { witness: _, witnesses: __, ...bare } = found;
  const { withdrawn, findings } = verify(
    changed(() => [{ ...bare, breaks: [], undecided: [], verdict: "safe" }]),
    sides,
  );
  assert.equal(withdrawn, [found.id]);
  assert.is(findings.find(isBreak)?.verdict, "undecided");
});

test("a payload of the corpus that is refused at a place that no finding names is told", () => {
  const elsewhere: DiffFinding = { ...found, at: "/elsewhere" };
  const corpus = [{ tool: "list_orders", side: "request", payload: {} }] as const;
  const { unsaid } = verify(
    changed(() => [elsewhere]),
    sides,
    { corpus, generate: 0 },
  );
  assert.is(unsaid.length, 1);
  assert.match(unsaid[0]!, /^list_orders request/);
});

test.run();
