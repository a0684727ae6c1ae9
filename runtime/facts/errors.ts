/** Whether an error is as its release wants producers to write one; readers take it either way. */
import { isJsonObject, type Recovery, type Release } from "../contract/index.js";

/**
 * What a producer did wrong in an error, by the text of its release; undefined where nothing is. A schema judges the rest.
 * @param release the release the answer is in
 */
export function producerFault(release: Pick<Release, "errors" | "facts">, error: unknown): string | undefined {
  if (!isJsonObject(error)) return "an error is an object";
  const { recovery, buyer_reason: reason } = error;
  const known: readonly unknown[] = ["correctable", "transient", "terminal"];
  if (recovery !== undefined && !known.includes(recovery)) return "recovery has a value that is none";
  if (recovery === undefined && release.facts.envelope.recovery.value === "required") return "recovery is missing";
  if (!isJsonObject(reason)) return undefined;
  const registered = (code: unknown): Recovery | undefined =>
    typeof code === "string" && Object.hasOwn(release.errors, code) ? release.errors[code]?.recovery : undefined;
  const classes = [registered(error.code), registered(reason.code)].filter((one) => one !== undefined);
  return classes.every((one) => one === recovery) ? undefined : "the reason for buyers has another recovery";
}
