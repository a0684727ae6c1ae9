/**
 * What a finished answer is: the response less the branches that the runtime hands to other arms, so that whoever reads
 * one need not tell success from failure again. `statusOf` in the contract is the other side of this.
 */
import { listedValues } from "./discriminator.js";
import { conjuncts, type Resolve, type Shape } from "./shape.js";

export interface CompletedReading {
  resolve: Resolve;
  /** Task statuses that the payload's own `status` may speak of. */
  statuses: readonly string[];
  /** Names whose presence makes a payload a failure: the envelope's error. */
  failing: readonly string[];
}

/** Deepest chain of references and branches followed; a longer one is a loop. */
const MAX_DEPTH = 64;

/** Names a shape demands, whatever else it offers. */
const demandedBy = (shape: Shape, resolve: Resolve): Set<string> =>
  new Set(
    conjuncts(shape, resolve).flatMap((part) =>
      part.kind === "object" ? part.properties.filter(({ required }) => required).map(({ name }) => name) : [],
    ),
  );

/** Values a branch itself lists for `status`, where it lists them. */
function statusesOf(branch: Shape, resolve: Resolve): string[] {
  const lists = conjuncts(branch, resolve).flatMap((part) =>
    part.kind === "object"
      ? part.properties
          .filter(({ name, declared }) => name === "status" && declared)
          .map(({ shape }) => listedValues(shape, resolve))
          .filter((values) => values !== undefined)
      : [],
  );
  const least = lists.reduce<unknown[] | undefined>(
    (found, one) => (found === undefined || one.length < found.length ? one : found),
    undefined,
  );
  return (least ?? []).filter((value): value is string => typeof value === "string");
}

/** The runtime hands a payload of this branch to another arm than `completed`. */
function isElsewhere(
  branch: Shape,
  demanded: ReadonlySet<string>,
  { resolve, statuses, failing }: CompletedReading,
): boolean {
  const own = demandedBy(branch, resolve);
  const values = statusesOf(branch, resolve);
  const says = own.has("status") || demanded.has("status");
  if (says && values.length > 0 && values.every((value) => value !== "completed" && statuses.includes(value)))
    return true;
  return ["errors", ...failing].some((name) => own.has(name) && !demanded.has(name));
}

/**
 * The response without the branches of other arms; the same shape where there are none, or nothing else.
 * @param response what the tool answers, as its schema gives it
 */
export function completedShape(response: Shape, reading: CompletedReading): Shape {
  const demanded = demandedBy(response, reading.resolve);
  const less = (shape: Shape, depth: number): Shape => {
    if (depth > MAX_DEPTH) return shape;
    switch (shape.kind) {
      case "reference": {
        const target = reading.resolve(shape.to);
        const reduced = target === undefined ? target : less(target, depth + 1);
        return reduced === undefined || reduced === target ? shape : reduced;
      }
      case "all": {
        const parts = shape.parts.map((part) => less(part, depth + 1));
        return parts.every((part, index) => part === shape.parts[index]) ? shape : { ...shape, parts };
      }
      case "union": {
        const kept = shape.members.filter((member) => !isElsewhere(member, demanded, reading));
        if (kept.length === 0) return shape;
        const members = kept.map((member) => less(member, depth + 1));
        if (members.length === shape.members.length && members.every((one, index) => one === shape.members[index]))
          return shape;
        if (members.length === 1 && shape.conditions === undefined) return members[0]!;
        const { discriminator: _, ...rest } = shape;
        return { ...rest, members };
      }
      default:
        return shape;
    }
  };
  return less(response, 0);
}
