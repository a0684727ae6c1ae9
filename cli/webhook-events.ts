/** What `adbind webhook send` knows of a release's events: their list, and a small body of each. */
import { randomUUID } from "node:crypto";
import { loadRelease } from "../generator/load/load.js";
import { releaseFacts } from "../generator/model/build.js";
import type { JsonObject } from "../runtime/contract/index.js";
import { AdbindError } from "../runtime/errors.js";
import { type CataloguedEvent, eventCatalogue } from "../runtime/facts/index.js";
import { createValidator } from "../runtime/validate/index.js";
import { releaseNamed } from "./check/release-value.js";
import { sampleBody, samplePayload } from "./event-sample.js";
import { type ReleaseOptions, resolveRelease } from "./release/resolve.js";

const row = ({ kind, channels, order, within, schema, fields }: CataloguedEvent): string =>
  [kind, channels.join("+"), order, `${schema}${within === "result" ? " (result)" : ""}`, fields.join(",")].join("\t");

/** Prints every event of a release: its kind, who is told of it, its order, its schema and the fields it must have. */
export async function listEvents(release: string | undefined, options: ReleaseOptions): Promise<void> {
  const loaded = await loadRelease(await resolveRelease(release, options));
  const { events } = eventCatalogue({ facts: releaseFacts(loaded) });
  console.log(["kind", "channel", "order", "schema", "fields"].join("\t"));
  for (const event of events) console.log(row(event));
}

/**
 * A body of a kind that the release's schema takes.
 * @throws AdbindError `usage` for a kind that the release does not have, or that no small body was found of
 */
export async function bodyOfEvent(
  kind: string,
  operation: string | undefined,
  named: string | undefined,
  options: ReleaseOptions,
): Promise<JsonObject> {
  const release = await releaseNamed(named, options);
  const event = eventCatalogue(release).get(kind);
  const can = event !== undefined && Object.hasOwn(release.events, kind);
  if (!can) {
    throw new AdbindError("usage", `release ${release.version} has no event ${kind} to send`, {
      remedy: "adbind webhook send --list has them; a task's is sent with --tool and --status",
    });
  }
  const validator = await createValidator(release);
  const payload = samplePayload(await release.schemas(), event, (schema, value) => validator.schema(schema, value).ok);
  if (payload === undefined) {
    throw new AdbindError("usage", `no small body of ${kind} was found`, { remedy: "give one with --body" });
  }
  return sampleBody(release, event, payload, { key: randomUUID(), operation: operation ?? "op-1", now: Date.now() });
}
