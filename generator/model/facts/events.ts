/** What a seller tells unasked: the kinds, their schemas and what a body of each must have. */
import type { EventFacts, EventShape, Fact } from "../../../runtime/contract/index.js";
import { capabilitiesTool } from "./capabilities.js";
import { below, type FactSource, place, property, propertyAt, requiredOf, valuesOf } from "./read.js";

const TASK_ENVELOPE = "core/mcp-webhook-payload.json";
const KINDS = "enums/notification-type.json";
/** Reports of delivery are results of a task type that is no tool. */
const REPORT = "media-buy/media-buy-delivery-webhook-result.json";

/** Members that name an event, in the order they are looked for. */
const discriminators = ["notification_type", "event", "type"] as const;

export function eventFacts(source: FactSource): EventFacts {
  const envelope = place(source, TASK_ENVELOPE);
  const listed = place(source, KINDS);
  return {
    ...(envelope !== undefined && {
      task: {
        value: { schema: TASK_ENVELOPE, required: requiredOf(source, envelope) },
        from: below(TASK_ENVELOPE, "required"),
      },
    }),
    keyBinding: keyBinding(source),
    kinds: { ...reportKinds(source), ...kindsOf(source) },
    ...(listed !== undefined && { subscribable: { value: valuesOf(source, listed), from: below(KINDS, "enum") } }),
  };
}

/** A sender that says how long it retries binds its keys to what it sends under them. */
function keyBinding(source: FactSource): EventFacts["keyBinding"] {
  const root = capabilitiesTool(source)?.response ?? "";
  const horizon = propertyAt(source, root, ["webhook_signing", "delivery_retry_horizon_seconds"]);
  return horizon === undefined
    ? { value: "first-copy", from: propertyAt(source, root, ["webhook_signing"])?.ref ?? "manifest.json#/tools" }
    : { value: "payload", from: horizon.ref };
}

/** No tool reaches these schemas: an event is a body that must have a key and is no request, envelope or record. */
function kindsOf(source: FactSource): Record<string, Fact<EventShape>> {
  const rows: [string, Fact<EventShape>][] = [];
  // The agent's challenge has the account's word, and comes after it.
  const paths = [...source.documents.keys()].sort((a, b) => a.length - b.length);
  for (const path of paths) {
    if (!/(^|[-/])(webhook|notification)(-payload|-challenge)?\.json$/.test(path) || path === TASK_ENVELOPE) continue;
    const root = place(source, path);
    const required = requiredOf(source, root);
    // A challenge asks whether a URL listens; nothing is sent twice under a key of it.
    if (root === undefined || !(required.includes("idempotency_key") || path.endsWith("-challenge.json"))) continue;
    const named = discriminators
      .filter((name) => required.includes(name))
      .map((name) => ({ name, at: property(source, root, name) }))
      .find(({ at }) => valuesOf(source, at).length > 0);
    const shape = { schema: path, required };
    if (named?.at === undefined) rows.push([stemOf(path), { value: shape, from: path }]);
    for (const kind of valuesOf(source, named?.at)) {
      const fact = { value: { ...shape, discriminator: named!.name }, from: named!.at!.ref };
      rows.push([rows.some(([other]) => other === kind) ? stemOf(path) : kind, fact]);
    }
  }
  return Object.fromEntries(rows.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** `brand/revocation-notification.json` as `revocation_notification`: what has no word of its own is named by its file. */
const stemOf = (path: string): string =>
  path
    .replace(/^.*\//, "")
    .replace(/(-payload)?\.json$/, "")
    .replaceAll("-", "_");

/** Reports name their kind by the same member, inside the result of a task's envelope. */
function reportKinds(source: FactSource): Record<string, Fact<EventShape>> {
  const tool = source.tools.find(({ name }) => name === "get_media_buy_delivery");
  for (const path of [REPORT, tool?.response ?? ""]) {
    const at = propertyAt(source, path, ["notification_type"]);
    if (at === undefined) continue;
    const shape = {
      schema: path,
      required: requiredOf(source, place(source, path)),
      discriminator: "notification_type",
    };
    return Object.fromEntries(valuesOf(source, at).map((kind) => [kind, { value: shape, from: at.ref }]));
  }
  return {};
}
