/** A small body of each kind of event, for who has none at hand: made from the release's schema, and valid by it. */

import { Sampler } from "../runtime/conformance/check/sample.js";
import { isJsonObject, type JsonObject, type Release, type SchemaDocuments } from "../runtime/contract/index.js";
import { type CataloguedEvent, surfaceMember } from "../runtime/facts/index.js";

/** Does a value hold to a schema of the release? */
export type Accepts = (schema: string, value: unknown) => boolean;

/** Schemas narrowed to one kind, where several share one: a sample follows no condition that ties a member to a word. */
function narrowed(documents: SchemaDocuments, { schema, kind, discriminator }: CataloguedEvent): SchemaDocuments {
  const said = `"const":${JSON.stringify(kind)}`;
  const changed = Object.entries(documents)
    .filter(([path, text]) => path === schema || text.includes(said))
    .map(([path, text]): [string, string] => {
      const chosen = withChoice(JSON.parse(text) as JsonObject, kind);
      if (path !== schema || discriminator === undefined) return [path, JSON.stringify(chosen)];
      const properties = { ...propertiesOf(chosen), [discriminator]: { const: kind } };
      return [path, JSON.stringify({ ...chosen, properties })];
    });
  return { ...documents, ...Object.fromEntries(changed) };
}

const propertiesOf = ({ properties }: JsonObject): JsonObject => (isJsonObject(properties) ? properties : {});

/** A schema with the branch of a kind instead of the choice among all. */
function withChoice(schema: JsonObject, kind: string): JsonObject {
  const { oneOf, ...rest } = schema;
  const branches = Array.isArray(oneOf) ? (oneOf as unknown[]).filter(isJsonObject) : [];
  const own = branches.find((branch) =>
    Object.values(propertiesOf(branch)).some((one) => isJsonObject(one) && one.const === kind),
  );
  return own === undefined ? schema : { ...rest, properties: { ...propertiesOf(schema), ...propertiesOf(own) } };
}

/**
 * What an event's schema is of: its body, or the result in it.
 * @returns undefined where none was found
 */
export function samplePayload(
  documents: SchemaDocuments,
  event: CataloguedEvent,
  accepts: Accepts,
): JsonObject | undefined {
  const { schema, kind, discriminator } = event;
  for (const made of new Sampler(narrowed(documents, event)).requests(schema)) {
    const value = discriminator === undefined ? made : { ...made, [discriminator]: kind };
    for (const one of repaired(value)) if (accepts(schema, one)) return one;
  }
  return undefined;
}

/** States that a creative may come to from the first that a schema names. */
const later = ["approved", "rejected", "pending_review"];

function* repaired(value: JsonObject): Iterable<JsonObject> {
  yield value;
  const { transition } = value;
  if (isJsonObject(transition)) for (const to of later) yield { ...value, transition: { ...transition, to } };
}

export interface Correlation {
  readonly key: string;
  readonly operation: string;
  /** Unix milliseconds. */
  readonly now: number;
}

/** A whole body of an event. */
export function sampleBody(
  release: Pick<Release, "facts">,
  { kind, within }: CataloguedEvent,
  payload: JsonObject,
  { key, operation, now }: Correlation,
): JsonObject {
  if (within === "body") return { ...payload, ...("idempotency_key" in payload && { idempotency_key: key }) };
  const report = kind !== "impairment";
  return {
    idempotency_key: key,
    operation_id: operation,
    task_id: `${kind}.${key}`,
    task_type: report ? "media_buy_delivery" : "update_media_buy",
    [surfaceMember(release)]: "media-buy",
    status: report ? "completed" : "working",
    timestamp: new Date(now).toISOString(),
    ...(!report && { notification_type: kind, notification_id: payload.impairment_id }),
    result: payload,
  };
}
