/** A part of a release: what is in it, what it keeps of the whole, and how another run tells it apart. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { generate } from "../../generator/index.js";
import { lintRelease } from "../../generator/lint/release.js";
import { loadRelease } from "../../generator/load/load.js";
import { partFlags, partOfRelease, type ReleasePart, specialismIn } from "../../generator/load/part.js";
import { corpus, publishedReleases } from "../support/corpus.js";
import { type Any, manifestOf } from "../support/mutate-release.js";
import { changedRelease, smallRelease, tempFolder, writeRelease } from "../support/release.js";
import { thrownBy } from "../support/thrown.js";

const small = writeRelease(smallRelease());

/** Tools and specialisms of a part. */
async function inPart(label: string, part: ReleasePart): Promise<{ tools: string[]; specialisms: string[] }> {
  const { manifest } = partOfRelease(await loadRelease(label), part).release;
  return {
    tools: Object.keys(manifest.tools as object).sort(),
    specialisms: Object.keys(manifest.specialisms as object),
  };
}

test("nothing named is the whole release", async () => {
  const release = await loadRelease(small);
  for (const part of [{}, { tools: [] }, { specialisms: [], protocols: [] }])
    assert.is(partOfRelease(release, part).release, release);
});

test("a part has all that is named, and the specialisms that lack nothing in it", async () => {
  assert.equal(await inPart(small, { tools: ["list_orders"] }), { tools: ["list_orders"], specialisms: ["browsing"] });
  assert.equal(await inPart(small, { tools: ["place_order"] }), { tools: ["place_order"], specialisms: [] });
  assert.equal(await inPart(small, { protocols: ["sponsored-intelligence"], tools: ["list_orders"] }), {
    tools: ["end_session", "list_orders"],
    specialisms: ["browsing"],
  });
  assert.equal(await inPart(small, { specialisms: ["selling"] }), {
    tools: ["list_orders", "place_order"],
    specialisms: ["browsing", "selling"],
  });
});

/** What every published release has: a capabilities tool, a way to ask of tasks, and tools that fall back to older ones. */
const rich = changedRelease((files) => {
  const { tools, specialisms } = manifestOf(files);
  const { specialisms: _, deprecated_in: _in, ...plain } = tools.list_orders;
  Object.assign(tools, { get_proto_capabilities: plain, get_task_status: plain, old_order: plain });
  tools.place_order.legacy_fallback = { tool: "old_order", mode: "orchestrated" };
  specialisms.sub_selling = {
    protocol: "media-buy",
    entry_point_tools: ["place_order"],
    exercised_tools: ["place_order"],
  };
});

test("a specialism comes with what its tools need", async () => {
  const { tools } = await inPart(rich, { specialisms: ["sub-selling"] });
  assert.equal(tools, ["get_proto_capabilities", "get_task_status", "old_order", "place_order"]);
  assert.equal((await inPart(rich, { specialisms: ["browsing"] })).tools, ["get_proto_capabilities", "list_orders"]);
  assert.equal((await inPart(rich, { tools: ["place_order"] })).tools, ["place_order"], "a tool comes alone");
});

test("ids of specialisms are taken in either case", () => {
  const ids = ["sales_guaranteed", "signed-requests"];
  for (const [given, id] of [
    ["sales_guaranteed", "sales_guaranteed"],
    ["sales-guaranteed", "sales_guaranteed"],
    ["signed_requests", "signed-requests"],
    ["signed-requests", "signed-requests"],
    ["sales", undefined],
  ] as const)
    assert.is(specialismIn(ids, given), id);
});

const filesOf = (out: string): string[] => readdirSync(out, { recursive: true, encoding: "utf8" }).sort();

test("a part is generated, told apart from another, and recorded", async () => {
  const out = tempFolder();
  const outcome = async (part: ReleasePart, check = false) =>
    (await generate([small], { out, part, check })).releases[0]?.outcome;
  const part = { tools: ["list_orders"], specialisms: [] };
  assert.is(await outcome(part), "written");
  assert.is(await outcome(part), "unchanged");
  assert.is(await outcome(part, true), "same");
  assert.equal(filesOf(path.join(out, "1.2.3/tools")), ["index.ts", "list-orders.ts"]);
  const { options, digest } = JSON.parse(readFileSync(path.join(out, "1.2.3/owned.json"), "utf8"));
  assert.equal(options, {
    standalone: false,
    open: false,
    importExtension: "js",
    partial: false,
    "tool list_orders": true,
  });
  assert.is(digest, (await loadRelease(small)).digest, "a part is a part of that release");
  assert.is(await outcome({}, true), "different");
  assert.is(await outcome({ tools: ["end_session"] }), "written");
  assert.is(existsSync(path.join(out, "1.2.3/tools/list-orders.ts")), false);
});

test("the order and the case in which a part is named do not count", () => {
  const flags = (part: ReleasePart): string => JSON.stringify(partFlags(part));
  assert.is(
    flags({ tools: ["b", "a"], specialisms: ["x-y"] }),
    flags({ specialisms: ["x_y", "x-y"], tools: ["a", "b", "a"] }),
  );
  assert.is.not(flags({ tools: ["a"] }), flags({ protocols: ["a"] }));
});

test("a part needs only its own files to be right", async () => {
  const broken = changedRelease((files) => {
    files["core/line.json"] = "{";
    manifestOf(files).tools.end_session.request_schema = "gone.json";
  });
  assert.is((await generate([broken], { out: tempFolder() })).ok, false);
  assert.is((await generate([broken], { out: tempFolder(), part: { tools: ["list_orders"] } })).ok, true);
  assert.is((await generate([broken], { out: tempFolder(), part: { tools: ["place_order"] } })).ok, false);
});

test("what no release has is refused with what there is, and nothing is written", async () => {
  const out = tempFolder();
  for (const [part, told] of [
    [{ tools: ["list_order"] }, /there is no tool list_order: give some of .*list_orders/],
    [{ protocols: ["media"] }, /there is no protocol media: give some of media-buy, sponsored-intelligence/],
    [
      { specialisms: ["sell-ing"], tools: ["list_orders"] },
      /there is no specialism sell-ing: give some of browsing, selling/,
    ],
  ] as [ReleasePart, RegExp][]) {
    const { code, message } = await thrownBy(() => generate([small], { out, part }));
    assert.is(code, "usage");
    assert.match(message, told);
  }
  assert.equal(readdirSync(out), []);
});

test("what only a newer release has is in that one; an older one without any of it is named", async () => {
  const newer = changedRelease((files) => {
    const manifest = manifestOf(files);
    manifest.proto_version = "1.3.0";
    manifest.tools.pause_order = { ...manifest.tools.list_orders, specialisms: undefined };
  });
  const { releases } = await generate([small, newer], {
    out: tempFolder(),
    part: { tools: ["list_orders", "pause_order"] },
  });
  assert.equal(
    releases.map(({ tools }) => tools),
    [1, 2],
  );
  const { message } = await thrownBy(() =>
    generate([small, newer], { out: tempFolder(), part: { tools: ["pause_order"] } }),
  );
  assert.match(message, /has none of tool pause_order/);
  assert.ok(message.includes(small));
});

test("a manifest that is none is still judged as one", async () => {
  const none = changedRelease((files) => {
    manifestOf(files).specialisms = "none";
  });
  const result = await generate([none], { out: tempFolder(), part: { tools: ["list_orders"] } });
  assert.is(result.ok, false);
  assert.is(result.releases[0]?.findings[0]?.pointer, "/specialisms");
});

test("every specialism of every published release is a part that keeps the rules", async () => {
  for (const label of publishedReleases().filter((one) => /3\.0\.26|3\.2\.4/.test(one))) {
    const release = await loadRelease(label);
    for (const id of Object.keys(release.manifest.specialisms as object)) {
      const { release: part, unknown } = partOfRelease(release, { specialisms: [id.replaceAll("_", "-")] });
      const { tools, specialisms } = part.manifest as Any;
      assert.equal(unknown, []);
      for (const tool of specialisms[id].exercised_tools)
        assert.is(Object.hasOwn(tools, tool), Object.hasOwn(release.manifest.tools as object, tool), `${id} ${tool}`);
      for (const entry of Object.values<Any>(tools))
        for (const listed of entry.specialisms ?? []) assert.ok(Object.hasOwn(specialisms, listed));
    }
  }
});

test("findings that are alike share their message, so that they can be said once", async () => {
  if (publishedReleases().length === 0) return;
  const { findings } = await lintRelease(path.join(corpus, "releases/3.2.4"));
  assert.is(findings.length, 49);
  assert.is(new Set(findings.map(({ rule, message }) => rule + message)).size, 4);
});

test.run();
