/** The catalogue of events: every kind a release knows, and which one a body is. */
import { type EventChannel, isJsonObject, type Release, type SchemaRef } from "../contract/index.js";

/** What an event is judged by, and who is told of it. */
export interface CataloguedEvent {
  /** `task`, or the release's own word. */
  readonly kind: string;
  /** Fields that must be there: of the body, or of the result in it. */
  readonly fields: readonly string[];
  readonly schema: SchemaRef;
  /** Where what the schema is of stands. */
  readonly within: "body" | "result";
  readonly channels: readonly EventChannel[];
  /**
   * `task`: by its timestamp among those of its task. `sequence`: numbered in its channel. `none`: each speaks for itself, and
   * what it says is read again where it matters.
   */
  readonly order: "task" | "sequence" | "none";
  /** What one and the same event is known by when it is sent again under another key. */
  readonly identity: "notification_id" | "idempotency_key";
  /** It says that something has changed and where to read it, and nothing of what it is now. */
  readonly invalidation: boolean;
  /** Member of the body that has `kind` as its value; absent where the channel says what comes. */
  readonly discriminator?: string;
}

/** Every kind of event that a release knows. */
export interface EventCatalogue {
  readonly events: readonly CataloguedEvent[];
  get(kind: string): CataloguedEvent | undefined;
  /** Kinds that a channel carries. */
  kindsOf(channel: EventChannel): readonly string[];
}

type Known = Pick<Release, "facts">;

const made = new WeakMap<object, EventCatalogue>();

/** The events of a release, by kind. */
export function eventCatalogue(release: Known): EventCatalogue {
  const known = made.get(release.facts);
  if (known !== undefined) return known;
  const events = [...taskEvents(release), ...otherEvents(release)];
  const byKind = new Map(events.map((event) => [event.kind, event]));
  const catalogue: EventCatalogue = {
    events,
    get: (kind) => byKind.get(kind),
    kindsOf: (channel) => events.filter(({ channels }) => channels.includes(channel)).map(({ kind }) => kind),
  };
  made.set(release.facts, catalogue);
  return catalogue;
}

function taskEvents({ facts: { events } }: Known): CataloguedEvent[] {
  if (events.task === undefined) return [];
  const { schema, required, channels } = events.task.value;
  const place = { within: "body", order: "task", identity: "idempotency_key", invalidation: false } as const;
  return [{ kind: "task", fields: required, schema, channels, ...place }];
}

const otherEvents = ({ facts: { events } }: Known): CataloguedEvent[] =>
  Object.entries(events.kinds).map(([kind, { value }]) => {
    const { schema, required: fields, channels, within = "body", discriminator, invalidation = false } = value;
    const named = fields.includes("notification_id") || channels.includes("media-buy");
    return {
      kind,
      fields,
      schema,
      within,
      channels,
      order: channels.includes("reporting") ? "sequence" : "none",
      identity: named ? "notification_id" : "idempotency_key",
      invalidation,
      ...(discriminator !== undefined && { discriminator }),
    };
  });

/** Members by which bodies name their kind. */
const discriminators = ["notification_type", "event", "type"] as const;

/** The word by which a body, or the result in it, names its kind; undefined where it names none. */
export function kindNamed(body: unknown): string | undefined {
  const result = isJsonObject(body) ? body.result : undefined;
  for (const place of [body, result]) {
    if (!isJsonObject(place)) continue;
    for (const name of discriminators) {
      const value = place[name];
      if (typeof value === "string" && value !== "") return value;
    }
    if (place === result) break;
  }
  return undefined;
}

/**
 * The event a body is. What names no kind is known by the fields it must have, where one kind of its channels has just those.
 * @returns the catalogue's row; a bare word where the release has no such kind; undefined where nothing says what it is
 */
export function eventIn(
  release: Known,
  body: unknown,
  channels: readonly EventChannel[],
): CataloguedEvent | string | undefined {
  const catalogue = eventCatalogue(release);
  const named = kindNamed(body);
  if (named !== undefined) return catalogue.get(named) ?? named;
  if (!isJsonObject(body)) return undefined;
  const [only, another] = catalogue.events.filter(
    ({ discriminator, channels: own, fields, within }) =>
      discriminator === undefined &&
      within === "body" &&
      own.some((one) => channels.includes(one)) &&
      fields.every((field) => body[field] != null),
  );
  return another === undefined ? only : undefined;
}

/** Does a key of a release's webhooks stand for one payload, so that another one under it is refused? */
export const keysBindPayloads = ({ facts }: Known): boolean => facts.events.keyBinding.value === "payload";

/** Whether every payload of a release's tasks names the buyer's operation. */
export const operationRequired = ({ facts }: Known): boolean =>
  facts.events.task?.value.required.includes("operation_id") ?? false;

/** Whether a registration that names no operation is to be refused. */
export const refusesUnnamed = ({ facts }: Known): boolean => facts.events.unnamed?.value === "refused";

/** What the envelope of a task calls the protocol surface. */
export const surfaceMember = ({ facts }: Known): "domain" | "protocol" => facts.events.surface?.value ?? "domain";
