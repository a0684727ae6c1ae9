/** Compares a result with what the sender's release says of it. What differs is noted, never refused: it would be lost. */
import { isTaskStatus, type Release } from "../contract/index.js";
import { AdbindError } from "../errors.js";
import { isJsonObject, member } from "../extract/json-object.js";
import type { CataloguedEvent } from "../facts/index.js";
import type { EventKind, EventNote } from "../store/types.js";
import type { ValidationError, ValidationResult } from "../validate/types.js";
import type { Envelope } from "./envelope.js";
import { eventOf } from "./kinds.js";
import type { ReceiverConfig } from "./settings.js";
import { storable } from "./storable.js";

/** Findings kept of one event. */
const MAX_NOTES = 8;
/** Longest text kept of one finding, in characters: it quotes names the sender chose. */
const MAX_TEXT_CHARS = 200;

type Judge = Awaited<ReturnType<ReceiverConfig<unknown>["validatorOf"]>>;

export type ResultValidator = (
  kind: EventKind,
  envelope: Envelope,
  body: unknown,
  release: Release,
) => Promise<readonly EventNote[]>;

/** Makes the judge; a release's validator is made at its first event. */
export function resultValidator<Tx>(config: ReceiverConfig<Tx>): ResultValidator {
  const validators = new Map<Release, Promise<Judge | undefined>>();
  const validatorOf = (release: Release): Promise<Judge | undefined> => {
    const known = validators.get(release);
    if (known !== undefined) return known;
    const made = config.validatorOf(release).catch((error: unknown) => {
      config.log.error({ release: release.version, error: nameOf(error) }, "no validator: results go unjudged");
      return undefined;
    });
    validators.set(release, made);
    return made;
  };

  // What a release counts to an answer's data is the same for all of its answers: the reading that held is tried first.
  const whole = new Set<Release>();

  return async (kind, envelope, body, release) => {
    if (kind !== "task") {
      const event = eventOf(release, kind, body);
      return typeof event === "object" ? judgeEvent(event, body, await validatorOf(release)) : [];
    }
    const { data = null, problem } = envelope.payload ?? {};
    if (problem !== undefined) return [{ code: problem, pointer: "", message: "the data is wrapped in response" }];
    const { taskType, status, format } = envelope;
    // A2A may tell the end of a task apart from its artifacts: whichever tool it is, what it came to is still to be heard.
    if (format === "a2a" && status === "completed" && data === null)
      return [{ code: "schema_mismatch", pointer: "", message: "it is completed, and has no data" }];
    if (taskType === null || !isTaskStatus(status) || !hasArm(release, taskType, status)) return [];
    // Arms without data are common on interim states; there is nothing to compare then. What is completed has a result.
    if (data === null && status !== "completed") return [];
    const validator = await validatorOf(release);
    if (validator === undefined) return [];
    const bare: Reading = { name: "bare", data: data ?? {} };
    const enveloped: Reading = { name: "whole", data: withEnvelope(data ?? {}, envelope) };
    const judged = judgeReadings(
      (reading) => validator.arm(taskType, status, reading),
      whole.has(release) ? [enveloped, bare] : [bare, enveloped],
    );
    if (judged === undefined) {
      config.log.error(
        { release: release.version, taskType },
        "the validator has no such tool: its results go unjudged",
      );
      return [];
    }
    if (judged.held === "whole") whole.add(release);
    else if (judged.held === "bare") whole.delete(release);
    return notesOf(judged.errors);
  };
}

const notesOf = (errors: readonly ValidationError[]): EventNote[] =>
  errors.slice(0, MAX_NOTES).map(({ pointer, message }) => ({
    code: "schema_mismatch",
    pointer: storable(pointer, MAX_TEXT_CHARS),
    message: storable(message, MAX_TEXT_CHARS),
  }));

/** Judges what is told unasked, or the result in it, by its kind's schema; a release may have none. */
function judgeEvent({ schema, within }: CataloguedEvent, body: unknown, validator: Judge | undefined): EventNote[] {
  if (validator === undefined) return [];
  const result = member(body, "result");
  try {
    const verdict = validator.schema(schema, within === "result" && result !== undefined ? result : body);
    return verdict.ok ? [] : notesOf(verdict.errors);
  } catch (error) {
    // Bindings of a part of a release have none of its events.
    if (error instanceof AdbindError && error.code === "schema_missing") return [];
    throw error;
  }
}

/** A result as one of the ways in which releases have it. */
interface Reading {
  readonly name: "bare" | "whole";
  readonly data: unknown;
}

interface JudgedReadings {
  /** The reading that fits; undefined where none does. */
  readonly held?: Reading["name"];
  /** What is wrong with the bare one, where none does. */
  readonly errors: readonly ValidationError[];
}

/**
 * Judges readings until one holds.
 * @returns undefined where the validator knows nothing of the tool: one may be made of some tools only
 */
function judgeReadings(
  arm: (reading: unknown) => ValidationResult<unknown>,
  readings: readonly Reading[],
): JudgedReadings | undefined {
  let errors: readonly ValidationError[] = [];
  try {
    for (const { name, data } of readings) {
      const verdict = arm(data);
      if (verdict.ok) return { held: name, errors: [] };
      if (name === "bare") ({ errors } = verdict);
    }
    return { errors };
  } catch (error) {
    if (error instanceof AdbindError && error.code === "schema_missing") return undefined;
    throw error;
  }
}

/** Some releases count the answer's own `status` and `task_id` to its data; in a webhook they stand beside `result`. */
const withEnvelope = (data: unknown, { status, taskId }: Envelope): unknown =>
  isJsonObject(data) ? { status, ...(taskId !== null && { task_id: taskId }), ...data } : data;

const hasArm = (release: Release, taskType: string, status: string): boolean =>
  Object.hasOwn(release.tools, taskType) && Object.hasOwn(release.tools[taskType]!.arms, status);

const nameOf = (error: unknown): string => (error instanceof Error ? error.name : typeof error);
