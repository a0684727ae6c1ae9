/**
 * Storyboards that apply only to agents which declare a capability: every such gate that the example sellers leave closed is in
 * closed-gates.json, with the reason; and one that is open is not.
 */
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import type { CapabilityPredicate, Storyboard } from "../../runtime/conformance/document.js";
import { type GateFacts, unmetCapability } from "../../runtime/conformance/gates.js";
import { loadSuite } from "../../runtime/conformance/index.js";
import { createSchemaJudge } from "../../runtime/conformance/schemas.js";
import { selectStoryboards } from "../../runtime/conformance/select.js";
import { behavingSeller } from "../behaviours/behaving-seller.js";
import { cellsOf } from "../support/cells.js";
import { corpus } from "../support/corpus.js";
import { wholeRelease } from "../support/whole-release.js";

interface Entry {
  readonly gate: string;
  /** Releases in whose suites it is closed. */
  readonly in: readonly string[];
  readonly why: string;
}

const place = path.resolve(import.meta.dirname, "closed-gates.json");
const listed = JSON.parse(readFileSync(place, "utf8")) as readonly Entry[];

const claimed = ["sales_guaranteed", "sales_non_guaranteed", "creative_template", "signal_owned"];

const gatesOf = (storyboard: Storyboard): CapabilityPredicate[] =>
  [
    storyboard.requires_capability,
    ...(storyboard.requires_all_capabilities ?? []),
    ...storyboard.phases.map(({ requires_capability: one }) => one),
  ].filter((one) => one !== undefined);

/** As the list names it: `media_buy.buying_modes contains "wholesale"`. */
function nameOf({ path: at, ...wanted }: CapabilityPredicate): string {
  const [[kind, value] = ["", ""]] = Object.entries(wanted);
  return `${at} ${kind} ${JSON.stringify(value)}`;
}

/** Gates that are closed to one of the example's sellers, before the storyboards that it is held to. */
async function closedGates(version: string): Promise<Set<string>> {
  const { release, documents, published } = await wholeRelease(version);
  const suite = await loadSuite(path.join(corpus, "compliance", version));
  const judge = await createSchemaJudge(release, { documents, published });
  const tool = `get_${release.word}_capabilities`;
  const answer = (release.tools[tool]!.arms as { completed: string }).completed;
  const closed = new Set<string>();
  for (const specialism of claimed) {
    const seller = await behavingSeller(version, [specialism]);
    const capabilities = await seller.ask(tool, {});
    await seller.close();
    const facts: GateFacts = { capabilities, defaultOf: (at) => judge.defaultAt(answer, at) };
    for (const { storyboard } of selectStoryboards(suite, capabilities, {}, new Set()).selected)
      for (const one of gatesOf(storyboard)) if (unmetCapability(one, facts) !== undefined) closed.add(nameOf(one));
  }
  return closed;
}

const versions = ["3.0.26", "3.1.19", "3.2.0-beta.4"].filter((one) => existsSync(path.join(corpus, "compliance", one)));

for (const version of cellsOf("ADBIND_CELLS=all ./run test test/conformance/closed-gates.test.ts", versions, 1))
  test(`${version}: each gate that is closed is on the list, and no other`, async () => {
    const closed = await closedGates(version);
    const entries = listed.filter(({ in: releases }) => releases.includes(version));
    const names = new Set(entries.map(({ gate }) => gate));
    assert.equal([...closed].filter((one) => !names.has(one)).sort(), [], "closed, and no reason is given");
    assert.equal([...names].filter((one) => !closed.has(one)).sort(), [], "on the list, and open");
    for (const { gate, why } of entries) assert.ok(why.length > 20, `${gate}: a reason that says something`);
  });

test.run();
