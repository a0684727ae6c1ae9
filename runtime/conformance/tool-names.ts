/** The tool that a step calls. */
import { isJsonObject } from "../contract/index.js";
import type { StoryboardStep } from "./document.js";
import { fieldAt } from "./paths.js";

/** Reads that a probe may be made with, where the kit names none that is offered. */
const probeTasks = [
  "list_creatives",
  "get_media_buy_delivery",
  "list_authorized_properties",
  "get_signals",
  "list_property_lists",
  "list_collection_lists",
  "list_content_standards",
];

/** The tool a step calls; `$test_kit.` names are looked up. */
export function taskOf(step: StoryboardStep, kit: unknown, tools: ReadonlySet<string>): string {
  if (!step.task.startsWith("$test_kit.")) return step.task;
  const named = fieldAt(isJsonObject(kit) ? kit : {}, step.task.slice("$test_kit.".length));
  const task = typeof named === "string" ? named : (step.task_default ?? step.task);
  if (!step.task.endsWith(".probe_task") || tools.has(task)) return task;
  return probeTasks.find((one) => tools.has(one)) ?? task;
}
