/** Signal definitions of an authorization file (`core/signal-definition.json` of the published schemas). */

import { isJsonObject } from "../../contract/json-object.js";
import type { FileProblems } from "../file-problems.js";
import { textOf } from "./values.js";

const MAX_ID = 255;
const MAX_NAME = 255;
const idForm = /^[a-zA-Z0-9_-]+$/;
const tagForm = /^[a-z0-9_-]+$/;
const valueTypes: readonly unknown[] = ["binary", "categorical", "numeric"];

/** What entries of `authorized_agents` may select by. */
export interface ReadSignals {
  readonly ids: ReadonlySet<string>;
  readonly tags: ReadonlySet<string>;
}

const isSignalId = (text: string): boolean => text.length <= MAX_ID && idForm.test(text);
const isSignalTag = (text: string): boolean => text.length <= MAX_ID && tagForm.test(text);
export const signalForm = { signal_ids: isSignalId, signal_tags: isSignalTag } as const;

const listOf = (value: unknown, fits: (one: unknown) => boolean): boolean => Array.isArray(value) && value.every(fits);

const rangeHolds = (value: unknown): boolean =>
  isJsonObject(value) && typeof value.min === "number" && typeof value.max === "number" && value.min <= value.max;

/** @returns the signal's id and tags; nothing where it cannot be used */
function readSignal(
  value: unknown,
  pointer: string,
  problems: FileProblems,
): { id: string; tags: string[] } | undefined {
  if (!isJsonObject(value)) return void problems.add("signal_shape", pointer, "a signal is an object");
  const { id, tags, range, allowed_values: allowed } = value;
  if (typeof id !== "string" || !isSignalId(id))
    return void problems.add("signal_id", `${pointer}/id`, "id is missing, or has other characters");
  if (textOf(value.name, MAX_NAME) === undefined)
    return void problems.add("signal_name", `${pointer}/name`, "name is missing, or too long");
  if (!valueTypes.includes(value.value_type))
    return void problems.add("signal_value_type", `${pointer}/value_type`, "value_type is missing, or unknown");
  if (tags !== undefined && !listOf(tags, (tag) => typeof tag === "string" && isSignalTag(tag)))
    return void problems.add("signal_tags", `${pointer}/tags`, "tags are no list of tags");
  if (value.category !== undefined && typeof value.category !== "string")
    return void problems.add("signal_category", `${pointer}/category`, "category is no text");
  const emptyValues = Array.isArray(allowed) && allowed.length === 0;
  if (allowed !== undefined && (emptyValues || !listOf(allowed, (one) => typeof one === "string")))
    return void problems.add("signal_values", `${pointer}/allowed_values`, "allowed_values is no list of texts");
  if (range !== undefined && !rangeHolds(range))
    return void problems.add("signal_range", `${pointer}/range`, "range has no min and max that can be a range");
  if (value.value_type === "categorical" && allowed === undefined)
    problems.add("signal_values_missing", `${pointer}/allowed_values`, "nobody is told which values it has");
  return { id, tags: (tags as string[] | undefined) ?? [] };
}

/**
 * Reads `signals`; one that cannot be used is left out and noted.
 * @param described `signal_tags` of the file
 */
export function readSignals(given: readonly unknown[], described: unknown, problems: FileProblems): ReadSignals {
  const known = isJsonObject(described) ? described : {};
  const ids = new Set<string>();
  const tags = new Set<string>();
  given.forEach((value, index) => {
    const pointer = `/signals/${index}`;
    const signal = readSignal(value, pointer, problems);
    if (signal === undefined) return;
    if (ids.has(signal.id)) problems.add("signal_id_twice", `${pointer}/id`, "another signal has this id");
    ids.add(signal.id);
    for (const tag of signal.tags) {
      if (!tags.has(tag) && !Object.hasOwn(known, tag))
        problems.add("signal_tag_undefined", `${pointer}/tags`, `${tag} is not described in this file`);
      tags.add(tag);
    }
  });
  return { ids, tags };
}
