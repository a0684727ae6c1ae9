/** A suite of which folders were left out: what lacks is said to be the suite's, not the agent's or the release's. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { parse } from "yaml";
import { readStoryboard } from "../../runtime/conformance/document.js";
import type { Suite } from "../../runtime/conformance/index.js";
import { selectStoryboards } from "../../runtime/conformance/select.js";
import type { JsonObject } from "../../runtime/contract/index.js";

const storyboard = (file: string) =>
  readStoryboard(file, parse("id: own\nphases: [{id: p, steps: [{id: s, task: get_products}]}]") as JsonObject);

const suite = (files: readonly string[], index?: Suite["index"]): Suite => ({
  place: "/suites/own",
  version: undefined,
  index,
  storyboards: files.map(storyboard),
  files: new Map(),
});

const index = { specialisms: [{ id: "sales-guaranteed" }] };
const universal = "universal/own.yaml";
const capabilities = { supported_protocols: [], specialisms: ["sales-guaranteed"] };

const refusal = (of: Suite, id: string): string => {
  try {
    selectStoryboards(of, capabilities, { specialisms: [id] }, new Set());
  } catch (error) {
    return (error as Error).message;
  }
  return "nothing";
};

test("a specialism that is asked for, of which no storyboard is at hand", () => {
  const part = refusal(suite([universal], index), "sales_guaranteed");
  assert.match(part, "the suite is not whole: it lacks specialisms/sales-guaranteed/, which its index.json lists");
  assert.match(part, "/suites/own");
  assert.match(part, "give the whole compliance/ folder of a release, or its bundle");
  assert.match(refusal(suite([universal]), "sales-guaranteed"), "it lacks any folder below specialisms/");
  const whole = suite([universal, "specialisms/creative/index.yaml"], { specialisms: [{ id: "creative" }] });
  assert.match(refusal(whole, "sales-guaranteed"), "the suite has no specialism sales-guaranteed");
  assert.match(refusal(whole, "sales-guaranteed"), "it has creative");
});

test("a specialism that the agent declares, of which no storyboard is at hand", () => {
  const part = selectStoryboards(suite([universal], index), capabilities, {}, new Set()).faults;
  assert.match(part.join("\n"), "the agent declares the specialism sales-guaranteed, and the suite is not whole");
  const whole = suite([universal, "specialisms/creative/index.yaml"], { specialisms: [{ id: "creative" }] });
  const none = selectStoryboards(whole, capabilities, {}, new Set()).faults;
  assert.match(none.join("\n"), "sales-guaranteed, which the release does not have");
  const { notices, selected } = selectStoryboards(suite([universal]), capabilities, {}, new Set());
  assert.match(notices.join("\n"), "nothing was run of what the agent declares as sales-guaranteed");
  assert.is(selected.length, 1);
});

test.run();
