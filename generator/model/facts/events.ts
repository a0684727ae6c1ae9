/** What a seller tells unasked: the kinds, their schemas and what a body of each must have. */
import type { EventChannel, EventFacts, EventShape, Fact } from "../../../runtime/contract/index.js";
import { isMap } from "../../load/walk.js";
import { capabilitiesTool } from "./capabilities.js";
import {
  below,
  demands,
  type FactSource,
  type Placed,
  place,
  property,
  propertyAt,
  requiredOf,
  stringsOf,
  valuesOf,
} from "./read.js";

/** The task's envelope, as published and as this project's own releases have it. */
const envelopes = ["core/mcp-webhook-payload.json", "core/task-webhook-envelope.json"];
const KINDS = "enums/notification-type.json";
const REGISTRATION = "core/push-notification-config.json";
/** Reports of delivery are results of a task type that is no tool. */
const REPORT = "media-buy/media-buy-delivery-webhook-result.json";

/** Members that name an event, in the order they are looked for. */
const discriminators = ["notification_type", "event", "type"] as const;

export function eventFacts(source: FactSource): EventFacts {
  const listed = place(source, KINDS);
  const known = { ...reportKinds(source), ...kindsOf(source) };
  return {
    ...envelopeFacts(source),
    ...unnamedFact(source),
    keyBinding: keyBinding(source),
    kinds: { ...known, ...buyKinds(source, known) },
    ...(listed !== undefined && { subscribable: { value: valuesOf(source, listed), from: below(KINDS, "enum") } }),
  };
}

function envelopeFacts(source: FactSource): Pick<EventFacts, "task" | "surface" | "taskTypes"> {
  const path = envelopes.find((one) => place(source, one) !== undefined);
  if (path === undefined) return {};
  const required = requiredOf(source, place(source, path));
  const surface = (["domain", "protocol"] as const)
    .map((name) => ({ name, at: propertyAt(source, path, [name]) }))
    .find(({ at }) => at !== undefined);
  const types = propertyAt(source, path, ["task_type"]);
  const values = valuesOf(source, types);
  return {
    task: { value: { schema: path, required, channels: ["task"] }, from: below(path, "required") },
    ...(surface !== undefined && { surface: { value: surface.name, from: surface.at!.ref } }),
    ...(values.length > 0 && { taskTypes: { value: values, from: types!.ref } }),
  };
}

/**
 * What names no operation is optional in the schema of every release that has a place for it; where it is refused all the same, its
 * words say so.
 */
function unnamedFact(source: FactSource): Pick<EventFacts, "unnamed"> {
  const at = propertyAt(source, REGISTRATION, ["operation_id"]);
  if (at === undefined) return {};
  const words = at.schema.description;
  const refused = typeof words === "string" && /\bMUST reject\b/.test(words);
  return { unnamed: { value: refused ? "refused" : "taken", from: at.ref } };
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
  const configured = configuredChannels(source);
  // The agent's challenge has the account's word, and comes after it.
  const paths = [...source.documents.keys()].sort((a, b) => a.length - b.length);
  for (const path of paths) {
    if (!/(^|[-/])(webhook|notification)(-payload|-challenge)?\.json$/.test(path) || envelopes.includes(path)) continue;
    const root = place(source, path);
    const required = requiredOf(source, root);
    // A challenge asks whether a URL listens; nothing is sent twice under a key of it.
    if (root === undefined || !(required.includes("idempotency_key") || path.endsWith("-challenge.json"))) continue;
    const named = discriminators
      .filter((name) => required.includes(name))
      .map((name) => ({ name, at: property(source, root, name) }))
      .find(({ at }) => valuesOf(source, at).length > 0);
    const shape = { schema: path, required };
    const channelsOf = (kind: string): EventChannel[] =>
      required.includes("idempotency_key") ? configured(kind) : ["challenge"];
    if (named?.at === undefined) {
      const channels = channelsOf(stemOf(path));
      rows.push([stemOf(path), { value: { ...shape, channels }, from: path }]);
    }
    for (const kind of valuesOf(source, named?.at)) {
      const fact = {
        value: {
          ...{ ...shape, discriminator: named!.name, channels: channelsOf(kind) },
          ...(isInvalidation(source, kind) && { invalidation: true as const }),
        },
        from: named!.at!.ref,
      };
      rows.push([rows.some(([other]) => other === kind) ? stemOf(path) : kind, fact]);
    }
  }
  return Object.fromEntries(rows.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** A list of kinds says what class each is of, in the words that describe it. */
function isInvalidation(source: FactSource, kind: string): boolean {
  const described = place(source, KINDS)?.schema.enumDescriptions;
  const words = isMap(described) ? described[kind] : undefined;
  return typeof words === "string" && /\binvalidation\b/i.test(words);
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
      channels: ["reporting"] as const,
      within: "result" as const,
    };
    return Object.fromEntries(valuesOf(source, at).map((kind) => [kind, { value: shape, from: at.ref }]));
  }
  return {};
}

/** Configs that name the kinds they are for. */
const configs: readonly (readonly [EventChannel, string])[] = [
  ["account", "core/notification-config.json"],
  ["agent", "core/agent-notification-config.json"],
];

/** Which configs take a kind; a kind that none takes is told of a resource. */
function configuredChannels(source: FactSource): (kind: string) => EventChannel[] {
  const taken = configs.map(([channel, path]) => {
    const items = property(source, place(source, path), "event_types")?.schema.items;
    const at: Placed | undefined = isMap(items) ? { schema: items, ref: path } : undefined;
    const refused = [...demands(source, at)].flatMap(({ schema }) =>
      isMap(schema.not) ? stringsOf(schema.not.enum) : [],
    );
    return { channel, kinds: valuesOf(source, at).filter((kind) => !refused.includes(kind)) };
  });
  return (kind) => {
    const channels = taken.filter(({ kinds }) => kinds.includes(kind)).map(({ channel }) => channel);
    return channels.length > 0 ? channels : ["resource"];
  };
}

const IMPAIRMENT = "core/impairment.json";

/** Kinds that are listed and have no schema of an event's: what changes on a media buy, told in a task's envelope. */
function buyKinds(source: FactSource, known: Record<string, unknown>): Record<string, Fact<EventShape>> {
  const impairment = place(source, IMPAIRMENT);
  if (impairment === undefined || "impairment" in known) return {};
  const required = requiredOf(source, impairment);
  const shape = { schema: IMPAIRMENT, required, channels: ["media-buy"], within: "result" } as const;
  return { impairment: { value: shape, from: IMPAIRMENT } };
}
