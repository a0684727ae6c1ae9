/** What answers carry beside their data, how errors travel, and how the result of a task finds its schema. */
import {
  type AnswerFields,
  type EnvelopeFacts,
  type Fact,
  isInterim,
  isTaskStatus,
  type RequestFields,
  type ResultFacts,
  wireNames,
} from "../../../runtime/contract/index.js";
import { isMap } from "../../load/walk.js";
import {
  alternatives,
  below,
  demands,
  type FactSource,
  type FactTool,
  type Placed,
  place,
  propertyAt,
  stringsOf,
  valuesOf,
} from "./read.js";
import type { ByVersion } from "./versions.js";

const ENVELOPE = "core/protocol-envelope.json";
const ERROR = "core/error.json";
const VERSION_ENVELOPE = "core/version-envelope.json";

export function envelopeFacts(source: FactSource, version: ByVersion): EnvelopeFacts {
  const error = propertyAt(source, ERROR, ["buyer_reason"]);
  const echo = place(source, VERSION_ENVELOPE);
  const status = statusFact(source);
  return {
    status,
    versionEcho: { value: echo !== undefined, from: echo?.ref ?? "manifest.json#/tools" },
    mediaBuyState: mediaBuyState(source),
    answers: answerFields(source, status.value === "task" ? ["status"] : []),
    requests: requestFields(source),
    recovery: version.fact("recovery"),
    retryAfter: version.fact("retryAfter"),
    buyerReason: {
      value: error !== undefined,
      from: error?.ref ?? place(source, ERROR)?.ref ?? "manifest.json#/tools",
    },
    contextId: version.fact("contextId"),
  };
}

/** The envelope is every answer's where answers refer to it; a release may have one that none does. */
function statusFact(source: FactSource): EnvelopeFacts["status"] {
  const reached = source.tools.find(({ response }) =>
    [...demands(source, place(source, response))].some(({ ref }) => ref === ENVELOPE),
  );
  if (reached === undefined) return { value: "free", from: place(source, ENVELOPE)?.ref ?? "manifest.json#/tools" };
  const demanded = stringsOf(place(source, ENVELOPE)?.schema.required).includes("status");
  return { value: demanded ? "task" : "free", from: below(ENVELOPE, demanded ? "required" : "properties") };
}

/** The tool that makes a media buy shows it: its completed answer has one field, the other, or both. */
function mediaBuyState(source: FactSource): EnvelopeFacts["mediaBuyState"] {
  const tool = source.tools.find(({ name }) => name === "create_media_buy");
  const root = tool === undefined ? undefined : place(source, tool.response);
  if (tool === undefined || root === undefined) return { value: "status", from: "manifest.json#/tools" };
  const branches = alternatives(source, root);
  for (const parts of branches) {
    const state = fieldIn(parts, "media_buy_status");
    const status = fieldIn(parts, "status", ENVELOPE);
    if (state !== undefined) return { value: status === undefined ? "media_buy_status" : "either", from: state };
  }
  return { value: "status", from: tool.response };
}

const fieldIn = (parts: readonly Placed[], name: string, except?: string): string | undefined => {
  const part = parts.find(
    ({ schema, ref }) => ref !== except && isMap(schema.properties) && Object.hasOwn(schema.properties, name),
  );
  return part && below(part.ref, "properties", name);
};

/** Fields that any answer may have, as far as its schema lets it. */
const common = (word: string): string[] => {
  const { error, version } = wireNames(word);
  const keys = ["context", "context_id", "idempotency_key"];
  return [version, error, ...keys, "errors", "message", "replayed", "status", "task_id", "timestamp"];
};

/** The tools whose completed answers are not as the release's answers are: `usual` is what all of them demand. */
function answerFields(source: FactSource, usual: readonly string[]): EnvelopeFacts["answers"] {
  const rows = source.tools.flatMap((tool): [string, Fact<AnswerFields>][] => {
    const fields = fieldsOf(source, tool);
    const same = fields.refused.length === 0 && fields.required.join() === usual.join();
    return same ? [] : [[tool.name, { value: fields, from: tool.response }]];
  });
  return Object.fromEntries(rows);
}

/** Fields by which any request may say which release it is in. */
const pins = (word: string): string[] => [wireNames(word).version, `${word}_major_version`];

/** The tools whose requests are closed to them. */
function requestFields(source: FactSource): EnvelopeFacts["requests"] {
  const rows = source.tools.flatMap(({ name, request }): [string, Fact<RequestFields>][] => {
    const root = place(source, request);
    const branches = root === undefined ? [] : alternatives(source, root);
    const closed = (parts: readonly Placed[], field: string) => parts.some((part) => refuses(source, part, field));
    const refused = pins(source.word).filter((field) => branches.some((parts) => closed(parts, field)));
    return refused.length === 0 ? [] : [[name, { value: { refused }, from: request }]];
  });
  return Object.fromEntries(rows);
}

function fieldsOf(source: FactSource, { response }: FactTool): AnswerFields {
  const root = place(source, response);
  if (root === undefined) return { required: [], refused: [] };
  const branches = alternatives(source, root).filter((parts) => isCompleted(source, parts));
  const every = (holds: (parts: readonly Placed[]) => boolean): boolean => branches.length > 0 && branches.every(holds);
  const names = common(source.word);
  return {
    required: names.filter((name) =>
      every((parts) => parts.some(({ schema }) => stringsOf(schema.required).includes(name))),
    ),
    refused: names.filter((name) => every((parts) => parts.some((part) => refuses(source, part, name)))),
  };
}

/** Not an error's branch, and not that of work that goes on. */
function isCompleted(source: FactSource, parts: readonly Placed[]): boolean {
  const required = new Set(parts.flatMap(({ schema }) => stringsOf(schema.required)));
  if (required.has("errors") || required.has(wireNames(source.word).error)) return false;
  return !required.has("status") || !parts.some((part) => saysInterim(source, part));
}

/** Does a part leave its `status` nothing but words of work that goes on? */
function saysInterim(source: FactSource, { schema, ref }: Placed): boolean {
  const status = isMap(schema.properties) ? schema.properties.status : undefined;
  const values = isMap(status) ? valuesOf(source, { schema: status, ref }) : [];
  return values.length > 0 && values.every((value) => isTaskStatus(value) && isInterim(value));
}

/** One part of an answer that no completed one with the field can satisfy. */
function refuses(source: FactSource, part: Placed, name: string): boolean {
  const { properties, additionalProperties, patternProperties, not } = part.schema;
  const own = isMap(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined;
  if (own === false || (name === "status" && saysInterim(source, part))) return true;
  // With more beside it, what is refused is some value of the field.
  if (isMap(not) && Object.keys(not).join() === "required" && stringsOf(not.required).join() === name) return true;
  return additionalProperties === false && own === undefined && patternProperties === undefined;
}

/** A terminal result's schema: by the manifest's own rule, else the response of the tool that the task is of. */
export function resultFacts({ manifest }: FactSource): ResultFacts {
  const rule = manifest.task_result_resolution;
  if (!isMap(rule)) {
    const terminal = { discriminator: "task_type", template: "/tools/{task_type}/response_schema", overrides: {} };
    return { terminal: { value: terminal, from: "manifest.json#/tools" } };
  }
  const overrides = isMap(rule.terminal_schema_overrides) ? rule.terminal_schema_overrides : {};
  return {
    terminal: {
      value: {
        discriminator: String(rule.discriminator_field),
        template: String(rule.terminal_schema_pointer_template),
        overrides: Object.fromEntries(Object.entries(overrides).map(([type, path]) => [type, String(path)])),
      },
      from: "manifest.json#/task_result_resolution",
    },
  };
}
