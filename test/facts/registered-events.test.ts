/** The table of what is registered for, held against what published releases say of their events. */

import path from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { loadRelease } from "../../generator/load/load.js";
import { releaseFacts } from "../../generator/model/build.js";
import { eventCatalogue } from "../../runtime/facts/events.js";
import { missingInNotice, noticesOf, registeredEvents } from "../../runtime/facts/registered-events.js";
import { publishedReleases } from "../support/corpus.js";

const notices = ["list_change", "artifact", "rights"] as const;
/** Where rules of events changed. */
const read = /^(3\.0\.4|3\.0\.26|3\.1\.19|3\.2\.0-beta\.0|3\.2\.4)$/;

for (const folder of publishedReleases().filter((one) => read.test(path.basename(one)))) {
  const version = path.basename(folder);
  const known = loadRelease(folder).then((release) => ({ facts: releaseFacts(release) }));

  test(`${version}: every channel of its events is registered for, and none else but a challenge's`, async () => {
    const channels = new Set(eventCatalogue(await known).events.flatMap((event) => event.channels));
    const ours = new Set(Object.values(registeredEvents).flatMap((row) => [...row.channels]));
    assert.equal(
      [...channels].filter((one) => !ours.has(one as never) && one !== "challenge"),
      [],
    );
  });

  test(`${version}: an event is known by fields that the release requires of it`, async () => {
    const { events, get } = eventCatalogue(await known);
    for (const [kind, { channels, knownBy }] of Object.entries(registeredEvents)) {
      if (notices.includes(kind as never)) continue;
      for (const event of events.filter((one) => one.channels.some((own) => channels.includes(own as never)))) {
        // What stands in a task's envelope has the envelope's fields.
        const fields = event.within === "result" ? get("task")!.fields : event.fields;
        assert.equal(
          knownBy.filter((field) => !fields.includes(field)),
          [],
          `${kind}: ${event.kind}`,
        );
      }
    }
  });

  test(`${version}: an event of a resource is one kind of notice, and each kind has one`, async () => {
    const release = await known;
    const found = notices.map((kind) => noticesOf(release, kind).map((event) => event.kind));
    const ofResources = eventCatalogue(release).kindsOf("resource");
    assert.equal(found.flat().sort(), [...ofResources].sort());
    assert.equal(
      found.filter((one) => one.length === 0),
      [],
    );
  });
}

const [folder] = publishedReleases().slice(-1);
if (folder !== undefined)
  test("what a notice lacks is what its release requires, its key aside", async () => {
    const release = { facts: releaseFacts(await loadRelease(folder)) };
    assert.equal(missingInNotice(release, "rights", { rights_id: "r" }), ["brand_id", "reason", "effective_at"]);
    const change = { event: "collection_list_changed", list_id: "l", resolved_at: "2026-04-18T14:00:00Z" };
    assert.equal(missingInNotice(release, "list_change", change), ["signature"]);
    assert.equal(missingInNotice(release, "list_change", { list_id: "l" }), ["event", "resolved_at", "signature"]);
    assert.is(missingInNotice(release, "list_change", { ...change, event: "made_up_list_changed" }), undefined);
  });

test.run();
