/** What a comparison needs of a release: its messages, the judge of them, what it says in words, and its suite. */
import type { ReleaseFacts } from "../../runtime/contract/index.js";
import type { Model } from "../model/model.js";
import type { DiffJudge } from "./mend.js";
import { normativeIn } from "./sentences.js";
import type { DiffSuite } from "./suite.js";

/** A release, and its schemas as validators. */
export interface DiffSide {
  readonly model: Model;
  readonly judge: DiffJudge;
  /** Schemas of what a seller tells unasked, by the kind of event; `task` is the envelope of a task's webhook. */
  readonly events: ReadonlyMap<string, string>;
  /** Schema of an error under the empty name, and of the details that a code brings under the code. */
  readonly errors: ReadonlyMap<string, string>;
  /** Sentences that demand something, by the schema file whose descriptions have them. */
  readonly sentences: ReadonlyMap<string, readonly string[]>;
  /** Storyboards and vectors, where the release came with them. */
  readonly suite?: DiffSuite;
}

/** What the envelope of a task's webhook is called among the kinds of event. */
export const TASK_ENVELOPE = "task";

/** @returns schemas by the kind of event */
export function eventSchemas({ events }: Pick<ReleaseFacts, "events">): Map<string, string> {
  const kinds = Object.entries(events.kinds).map(([kind, { value }]): [string, string] => [kind, value.schema]);
  return new Map([
    ...(events.task === undefined ? [] : [[TASK_ENVELOPE, events.task.value.schema] as const]),
    ...kinds,
  ]);
}

const stemOf = (path: string): string => path.replace(/^.*\//, "").replace(/\.json$/, "");

/**
 * Schemas of errors among files. `error-details/version-unsupported.json` is of VERSION_UNSUPPORTED.
 * @returns by the code, the error itself under the empty one
 */
export function errorSchemas(paths: Iterable<string>, codes: Iterable<string>): Map<string, string> {
  const known = new Set(codes);
  const found = new Map<string, string>();
  for (const path of paths) {
    const stem = stemOf(path);
    const code = stem.toUpperCase().replaceAll("-", "_");
    if (stem === "error") found.set("", path);
    else if (path.startsWith("error-details/") && known.has(code)) found.set(code, path);
  }
  return found;
}

/**
 * @param model one that has the schemas of events and errors too
 * @param judge of that model
 */
export function sideOf(model: Model, judge: DiffJudge): Omit<DiffSide, "suite"> {
  const paths = model.documents.map(({ path }) => path);
  const said = model.documents.map(({ path, shape }) => [path, normativeIn(shape, model.version)] as const);
  return {
    model,
    judge,
    events: new Map([...eventSchemas(model.facts)].filter(([, path]) => model.resolve(path) !== undefined)),
    errors: errorSchemas(
      paths,
      model.codes.map(({ code }) => code),
    ),
    sentences: new Map(said.filter(([, sentences]) => sentences.length > 0)),
  };
}
