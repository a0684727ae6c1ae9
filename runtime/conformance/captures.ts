/** Values of an answer that later steps use. */
import { isJsonObject, type JsonObject } from "../contract/index.js";
import type { ContextOutput, StoryboardStep } from "./document.js";
import { fieldAt, pointerOfPath } from "./paths.js";
import type { GradedCheck } from "./result.js";

const isMissing = (value: unknown): boolean => value === undefined || value === null || value === "";

/** Names that storyboards use without declaring them: tool -> name -> path. */
const implicit: Readonly<Record<string, readonly [name: string, path: string]>> = {
  create_media_buy: ["media_buy_id", "media_buy_id"],
  get_products: ["proposal_id", "proposals[0].proposal_id"],
  create_content_standards: ["content_standards_id", "standards_id"],
};

/** Whether a step gives later ones a value of this name, declared or not. */
export const provides = ({ context_outputs: outputs = [] }: StoryboardStep, task: string, wanted: string): boolean =>
  implicit[task]?.[0] === wanted || outputs.some((one) => captureName(one) === wanted);

const captureName = ({ name, key }: ContextOutput): string => name ?? key ?? "";

/** What a capture of a task's end is called: `task_completion.<path>`. */
export const COMPLETION = "task_completion.";

export interface CaptureParts {
  readonly payload: unknown;
  /** The result of the task that the answer began, once it has ended. */
  readonly completion: JsonObject | undefined;
  readonly context: Map<string, unknown>;
  readonly generate: (template: string) => unknown;
  /** Whether a later phase that is run uses the name; where none does, its absence is what their `skip_if` asks. */
  readonly isUsed: (name: string) => boolean;
}

interface Missing {
  readonly name: string;
  readonly path: string;
  readonly value: unknown;
}

const failure = ({ name, path, value }: Missing): GradedCheck => ({
  check: "capture_path_not_resolvable",
  description: `the answer has what later steps use as ${name}`,
  outcome: "failed",
  pointer: pointerOfPath(path.replace(COMPLETION, "")),
  expected: path,
  actual: value ?? null,
});

/** Takes what a step declares. @returns a failed check for each path that leads nowhere, and is needed */
export function capture(step: StoryboardStep, task: string, parts: CaptureParts): GradedCheck[] {
  const missing: Missing[] = [];
  for (const output of step.context_outputs ?? []) {
    const name = captureName(output);
    if (output.generate !== undefined) {
      if (!parts.context.has(name)) parts.context.set(name, parts.generate(`$generate:${output.generate}`));
      continue;
    }
    const path = output.path ?? name;
    const ofTask = path.startsWith(COMPLETION);
    const value = ofTask
      ? (fieldAt(parts.completion, path.slice(COMPLETION.length)) ??
        fieldAt(parts.payload, path.slice(COMPLETION.length)))
      : fieldAt(parts.payload, path);
    if (isMissing(value)) missing.push({ name, path, value });
    else parts.context.set(name, value);
  }
  const failures = missing.filter(({ name }) => parts.isUsed(name)).map(failure);
  const known = Object.hasOwn(implicit, task) ? implicit[task] : undefined;
  if (known !== undefined) {
    const value = fieldAt(parts.payload, known[1]);
    const declared = (step.context_outputs ?? []).some((output) => captureName(output) === known[0]);
    if (!isMissing(value) && !declared) parts.context.set(known[0], value);
  }
  return failures;
}

/** Values that a step makes before it is sent, so that its own request can use them. */
export function generateFirst(step: StoryboardStep, parts: Pick<CaptureParts, "context" | "generate">): void {
  for (const output of step.context_outputs ?? [])
    if (output.generate !== undefined && !parts.context.has(captureName(output)))
      parts.context.set(captureName(output), parts.generate(`$generate:${output.generate}`));
}

/** `context_inputs`: captured values put into a request at a path, lists on the way included. */
export function inject(step: StoryboardStep, request: JsonObject, context: ReadonlyMap<string, unknown>): void {
  const inputs = Array.isArray(step.context_inputs) ? step.context_inputs.filter(isJsonObject) : [];
  for (const { key, inject_at: at } of inputs) {
    const value = context.get(String(key));
    if (value === undefined || typeof at !== "string") continue;
    const names = at.split(/[.[\]]+/).filter((name) => name !== "");
    let holder: Record<string, unknown> = request;
    for (const [index, name] of names.slice(0, -1).entries()) {
      const held = holder[name];
      if (typeof held !== "object" || held === null) holder[name] = /^\d+$/.test(names[index + 1]!) ? [] : {};
      holder = holder[name] as Record<string, unknown>;
    }
    holder[names.at(-1)!] = value;
  }
}
