/** What releases say about themselves: every fact of the corpus has a place that shows it, and the ones behaviour turns on are right. */
import { existsSync } from "node:fs";
import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { type LoadedRelease, loadRelease } from "../../generator/load/load.js";
import { projectionsOf } from "../../generator/load/projections.js";
import { atPointer, type SchemaJson } from "../../generator/load/walk.js";
import { releaseFacts } from "../../generator/model/build.js";
import { missingFacts, type PackageFacts } from "../../generator/model/facts/derive.js";
import type { Fact, ReleaseFacts } from "../../runtime/contract/index.js";
import { corpus } from "../support/corpus.js";

const folder = existsSync(path.join(corpus, "releases/3.2.4")) ? corpus : undefined;

interface Read {
  readonly release: LoadedRelease;
  readonly facts: PackageFacts;
}

async function read(name: string): Promise<Read> {
  const release = await loadRelease(name);
  return { release, facts: releaseFacts(release) };
}

const isFact = (held: object): held is Fact<unknown> => Object.hasOwn(held, "from") && Object.hasOwn(held, "value");

function* each(held: object, name = ""): Generator<[string, Fact<unknown>]> {
  for (const [key, value] of Object.entries(held)) {
    if (typeof value !== "object" || value === null) continue;
    if (isFact(value)) yield [`${name}${key}`, value];
    else yield* each(value, `${name}${key}.`);
  }
}

/** Does the place a fact names stand in the release? */
function stands({ manifest, documents, source }: LoadedRelease, from: string): boolean {
  const [file = "", pointer = ""] = from.split("#");
  const projection = projectionsOf(source).find((one) => one.path === file)?.manifest;
  const document = file === "manifest.json" ? manifest : (projection ?? documents.get(file)?.schema);
  return document !== undefined && atPointer(document as SchemaJson, pointer) !== undefined;
}

/** The facts behaviour turns on, in one line. */
const turns = ({ signing, discovery, envelope, events, tools }: ReleaseFacts): string =>
  [
    signing.profile.value,
    signing.digest.value,
    signing.operations.value,
    signing.nonAsciiHost.value,
    discovery.requests.value,
    discovery.urlMatch.value,
    discovery.keyOrigins.value,
    envelope.status.value,
    envelope.versionEcho.value,
    envelope.mediaBuyState.value,
    events.keyBinding.value,
    tools.task?.value,
  ].join(" ");

const old = "3.1 declared named header_malformed";
const expected: Readonly<Record<string, string>> = {
  "3.0.4": `${old} onboarding bytes advised free false status first-copy tasks/get`,
  "3.0.26": `${old} onboarding bytes advised free false status first-copy tasks/get`,
  "3.1.0": `${old} capabilities bytes requests task true either first-copy get_task_status`,
  "3.1.19": `${old} capabilities bytes requests task true either first-copy get_task_status`,
  "3.2.0-beta.0": "",
  "3.2.4":
    "3.2 required one target_uri_malformed capabilities canonical requests task true media_buy_status payload get_task_status",
};

if (folder === undefined)
  test("facts of the corpus are skipped where it is not there", () => console.log("skipped: there is no corpus"));
else {
  for (const [version, line] of Object.entries(expected)) {
    test(`facts of ${version}: each place is there, and what behaviour turns on is right`, async () => {
      const { release, facts } = await read(path.join(folder, "releases", version));
      const lost = [...each(facts)].filter(([, { from }]) => from !== "version" && !stands(release, from));
      assert.equal(lost, []);
      assert.equal(facts.assumed, []);
      if (line !== "") assert.is(turns(facts), line);
    });
  }

  test("what only the schemas of 3.2.4 tell is in its facts", async () => {
    const { facts } = await read(path.join(folder, "releases/3.2.4"));
    assert.match(facts.signing.profile.from, /allOf\/11\/then/);
    assert.is(Object.keys(facts.recovery.codes["request-signing-error-code"]!.value).length, 29);
    assert.equal(Object.keys(facts.projections).length, 6);
    assert.is(facts.projections["mcp/2026-07-28/profiles/production"]!.value.tools.length, 73);
    assert.equal(facts.results.terminal.value.overrides, {
      media_buy_delivery: "media-buy/media-buy-delivery-webhook-result.json",
    });
    const callers = Object.entries(facts.roles).filter(
      ([, { value }]) => value === "buyer" || value === "orchestrator",
    );
    assert.is(callers.length, 6);
    const unseen = facts.events.subscribable!.value.filter((kind) => !Object.hasOwn(facts.events.kinds, kind));
    assert.equal(unseen, []);
    const { kinds } = facts.events;
    assert.equal(kinds.impairment!.value.channels, ["media-buy"]);
    assert.equal(kinds["account.status_changed"]!.value.channels, ["account", "agent"]);
    assert.equal(kinds["capabilities.changed"]!.value.channels, ["agent"]);
    assert.equal(kinds.artifact_webhook!.value.channels, ["resource"]);
    assert.equal(kinds["webhook.challenge"]!.value.channels, ["challenge"]);
    assert.is(facts.events.surface!.value, "protocol");
    assert.is(facts.events.kinds["reporting.delivery_ready"]!.value.required.includes("data_through"), true);
    assert.equal(facts.tools.routes.decline_proposals!.value, { fallback: { mode: "none" } });
  });

  test("3.2.4: the compact tools close their answers", async () => {
    const { facts } = await read(path.join(folder, "releases/3.2.4"));
    const closed = Object.entries(facts.envelope.answers)
      .filter(([, { value }]) => value.refused.includes("context_id") && value.refused.includes("adcp_version"))
      .map(([name]) => name);
    assert.equal(closed.sort(), [
      "accept_proposal",
      "buy_products",
      "control_media_buy",
      "decline_proposals",
      "list_products",
    ]);
    assert.is(facts.envelope.answers.list_products!.value.refused.includes("status"), true);
    assert.is(Object.hasOwn(facts.envelope.answers, "get_products"), false);
    // Its completed answers refuse one value of the status, not the status.
    assert.is(Object.hasOwn(facts.envelope.answers, "preview_creative"), false);
  });

  test("requests closed to the version, and to nothing else that says the release", async () => {
    const closedIn = async (version: string) =>
      (await read(path.join(folder, "releases", version))).facts.envelope.requests;
    const old = await closedIn("3.0.26");
    assert.equal(old.sync_plans, { value: { refused: ["adcp_version"] }, from: "governance/sync-plans-request.json" });
    assert.is(Object.keys(old).length, 15);
    assert.equal([await closedIn("3.1.19"), await closedIn("3.2.4")], [{}, {}]);
  });

  for (const version of ["3.0.26", "3.1.19", "3.2.4"]) {
    test(`${version}: no answer refuses what it demands`, async () => {
      const { facts } = await read(path.join(folder, "releases", version));
      for (const [name, { value }] of Object.entries(facts.envelope.answers))
        assert.equal(
          value.required.filter((field) => value.refused.includes(field)),
          [],
          name,
        );
    });
  }

  test("origins of keys advise in 3.0, though its schema has them, and bind requests from 3.1 on", async () => {
    const bound = async (version: string) =>
      (await read(path.join(folder, "releases", version))).facts.discovery.keyOrigins.value;
    assert.equal(
      [await bound("3.0.26"), await bound("3.1.19"), await bound("3.2.4")],
      ["advised", "requests", "requests"],
    );
  });

  test("packing a release otherwise changes none of its facts", async () => {
    const plain = (await read(path.join(folder, "releases/3.2.4"))).facts;
    const repacked = (await read(path.join(folder, "repacked/3.2.4"))).facts;
    const { projections: _, ...rest } = plain;
    const { projections, ...others } = repacked;
    assert.equal(others, rest);
    assert.equal(missingFacts(repacked), Object.keys(projections).length === 0 ? ["projections"] : []);
    const bundle = (await read(path.join(folder, "bundles/3.0.26.tgz"))).facts;
    assert.equal(bundle, (await read(path.join(folder, "releases/3.0.26"))).facts);
  });
}

test("a release newer than any known is as the newest known one, and says what was assumed", async () => {
  const release = await loadRelease("manifests/3.1.0");
  const known = releaseFacts(release);
  const later = releaseFacts({ ...release, version: "3.9.0" });
  assert.equal(known.assumed, []);
  assert.is(later.discovery.pin.value, "thumbprint");
  assert.is(later.discovery.webhooks.value, "capabilities");
  assert.ok(later.assumed.includes('what a pin holds a key by: as 3.3 has it, "thumbprint"'));
  assert.equal(releaseFacts({ ...release, version: "3.3.0-beta.0" }).assumed, []);
  assert.is(releaseFacts({ ...release, version: "3.3.0-beta.0" }).discovery.pin.value, "thumbprint");
  assert.is(releaseFacts({ ...release, version: "3.2.4-rc.1" }).signing.nonAsciiHost.value, "header_malformed");
});

test.run();
