/** Compares a result with what the sender's release says of it. What differs is noted, never refused: it would be lost. */
import { isTaskStatus, type Release } from "../contract.js";
import { isJsonObject } from "../extract/json-object.js";
import { extractWebhook } from "../extract/webhook.js";
import type { EventKind, EventNote } from "../store/types.js";
import type { Envelope } from "./envelope.js";
import type { ReceiverConfig } from "./settings.js";

/** Findings kept of one event. */
const MAX_NOTES = 8;
/** Longest text kept of one finding, in characters: it quotes names the sender chose. */
const MAX_TEXT_CHARS = 200;

type Judge = Awaited<ReturnType<ReceiverConfig<unknown>["createValidator"]>>;

export type ResultJudge = (
  kind: EventKind,
  envelope: Envelope,
  body: unknown,
  release: Release,
) => Promise<readonly EventNote[]>;

/** Makes the judge; a release's validator is made at its first event. */
export function resultJudge<Tx>(config: ReceiverConfig<Tx>): ResultJudge {
  const validators = new Map<Release, Promise<Judge | undefined>>();
  const validatorOf = (release: Release): Promise<Judge | undefined> => {
    const known = validators.get(release);
    if (known !== undefined) return known;
    const made = config.createValidator(release).catch((error: unknown) => {
      config.log.error({ release: release.version, error: nameOf(error) }, "no validator: results go unjudged");
      return undefined;
    });
    validators.set(release, made);
    return made;
  };

  return async (kind, envelope, body, release) => {
    if (kind !== "task") return [];
    const { data, problem } = extractWebhook(body, envelope.format ?? "mcp");
    if (problem !== undefined) return [{ code: problem, pointer: "", message: "the data is wrapped in response" }];
    const { taskType, status } = envelope;
    if (taskType === null || !isTaskStatus(status) || !hasArm(release, taskType, status)) return [];
    // Arms without data are common on interim states; there is nothing to compare then.
    if (data === null) return [];
    const validator = await validatorOf(release);
    if (validator === undefined) return [];
    const arm = (value: unknown) => validator.armOf(taskType, status, value);
    const verdict = arm(data);
    if (verdict.ok || arm(withEnvelope(data, envelope)).ok) return [];
    return verdict.errors.slice(0, MAX_NOTES).map(({ pointer, message }) => ({
      code: "schema_mismatch",
      pointer: pointer.slice(0, MAX_TEXT_CHARS),
      message: message.slice(0, MAX_TEXT_CHARS),
    }));
  };
}

/** Some releases count the answer's own `status` and `task_id` to its data; in a webhook they stand beside `result`. */
const withEnvelope = (data: unknown, { status, taskId }: Envelope): unknown =>
  isJsonObject(data) ? { status, ...(taskId !== null && { task_id: taskId }), ...data } : data;

const hasArm = (release: Release, taskType: string, status: string): boolean =>
  Object.hasOwn(release.tools, taskType) && Object.hasOwn(release.tools[taskType]!.arms, status);

const nameOf = (error: unknown): string => (error instanceof Error ? error.name : typeof error);
