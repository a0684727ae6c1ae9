/**
 * Answers for callers who pin an older release than the handlers are written in. What a release calls otherwise is renamed, and
 * what a parser of it would refuse is left out, piece by piece, as far as that makes the answer one of its own; what was left
 * out is told. Nothing that the release demands is made up, and of what a call has done nothing is left out but what may be
 * absent: an answer that cannot be helped so stays as it is, and is refused as any other that breaks its schema.
 */
import { type AnyTool, isJsonObject, type JsonObject, type TaskStatus } from "../contract/index.js";
import { pointerStep } from "../validate/judge.js";
import type { ServedRelease } from "./served-releases.js";

export interface Projected {
  readonly payload: JsonObject;
  /** What was left out, as JSON pointers with `*` for every item, each with how often. */
  readonly left: Left;
}

/** Pieces left out of one answer, or of one item of a list, at most, and pieces tried for one error: all is judged anew after each. */
const MOST = { left: 200, tried: 12 } as const;

type Steps = readonly (string | number)[];

const stepsOf = (pointer: string): string[] =>
  pointer
    .split("/")
    .slice(1)
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));

const pattern = (steps: Steps): string => steps.map((step) => `/${/^\d+$/.test(String(step)) ? "*" : step}`).join("");

const at = (value: unknown, steps: Steps): unknown =>
  steps.reduce<unknown>(
    (held, step) =>
      typeof held === "object" && held !== null && Object.hasOwn(held, step)
        ? (held as Record<string, unknown>)[step]
        : undefined,
    value,
  );

/** Takes out what stands there. @returns what puts it back; undefined where nothing stands there */
function takeOut(payload: JsonObject, steps: Steps): (() => void) | undefined {
  const last = steps.at(-1);
  const parent = at(payload, steps.slice(0, -1));
  if (last === undefined || typeof parent !== "object" || parent === null || !Object.hasOwn(parent, last))
    return undefined;
  if (Array.isArray(parent)) {
    const [taken] = parent.splice(Number(last), 1);
    return () => void parent.splice(Number(last), 0, taken);
  }
  const held = parent as Record<string, unknown>;
  const taken = held[last];
  delete held[last];
  return () => Object.assign(held, { [last]: taken });
}

/** Puts in what older releases want where newer ones say it in another way. @returns what takes it out; undefined where there is none */
function putIn(payload: JsonObject, steps: Steps): (() => void) | undefined {
  // Named formats: those that the declarations of canonical ones say they are.
  if (steps.at(-1) !== "format_ids") return undefined;
  const owner = at(payload, steps.slice(0, -1));
  if (!isJsonObject(owner) || !Array.isArray(owner.format_options)) return undefined;
  const named = owner.format_options.flatMap((one) =>
    isJsonObject(one) && Array.isArray(one.v1_format_ref) ? one.v1_format_ref : [],
  );
  if (named.length === 0) return undefined;
  owner.format_ids = named;
  return () => void delete owner.format_ids;
}

/** The state of a media buy under the name that the release has for it. */
function renamed(
  payload: JsonObject,
  { release, domainStatus }: Pick<ServedRelease<never>, "release" | "domainStatus">,
  tool: string,
): JsonObject {
  const { media_buy_status: state, ...rest } = payload;
  const apart = release.facts.envelope.mediaBuyState.value !== "status";
  return apart || state === undefined || !domainStatus.has(tool) ? payload : { ...rest, status: state };
}

/** An answer as its caller's release has it. */
export function project<Tx>(
  servedRelease: ServedRelease<Tx>,
  tool: AnyTool,
  answer: { readonly status: TaskStatus; readonly payload: JsonObject },
): Projected {
  const { status } = answer;
  const judge = (payload: JsonObject): readonly string[] => {
    const judged = servedRelease.validator.arm(tool.name, status, payload);
    return judged.ok ? [] : judged.errors.map(({ pointer }) => pointer);
  };
  const own = renamed(answer.payload, servedRelease, tool.name);
  if (judge(own).length === 0) return { payload: own, left: {} };
  const payload = structuredClone(own);
  const judging = { judge, items: !tool.mutating };
  const before = mendItems(payload, judging);
  const after = settled(payload, judging);
  return after === undefined ? { payload: answer.payload, left: {} } : { payload, left: counted(before, after) };
}

type Left = Readonly<Record<string, number>>;

const counted = (...all: readonly Left[]): Left => {
  const sum: Record<string, number> = {};
  for (const [name, count] of all.flatMap((one) => Object.entries(one))) sum[name] = (sum[name] ?? 0) + count;
  return sum;
};

/** Mends all of an answer in its place. @returns what was left out; undefined where it cannot be helped */
function settled(payload: JsonObject, judging: Judging): Left | undefined {
  const left: Left[] = [];
  let wrong = judging.judge(payload);
  for (let count = 0; wrong.length > 0; count++) {
    const better = count < MOST.left ? mend(payload, wrong, judging) : undefined;
    if (better === undefined) return undefined;
    ({ wrong } = better);
    if (better.left !== undefined) left.push({ [better.left]: 1 });
  }
  return counted(...left);
}

/**
 * Mends the items of an answer's lists in their place, each in an answer of its own: a thousand of them are not judged anew for
 * what is wrong with one. What cannot be mended so is left as it is.
 */
function mendItems(payload: JsonObject, judging: Judging): Left {
  const lists = Object.entries(payload).filter((entry): entry is [string, unknown[]] => Array.isArray(entry[1]));
  const cut = Object.fromEntries(lists.map(([name, list]) => [name, list.slice(0, 1)]));
  const frame = structuredClone({ ...payload, ...cut });
  if (lists.every(([, list]) => list.length < 2) || settled(frame, judging) === undefined) return {};
  const left: Left[] = [];
  for (const [name, list] of lists) {
    payload[name] = list.flatMap((item) => {
      const alone = { ...frame, [name]: [structuredClone(item)] };
      const without = settled(alone, judging);
      if (without === undefined || !Array.isArray(alone[name])) return [item];
      left.push(without);
      return alone[name];
    });
  }
  return counted(...left);
}

interface Judging {
  /** @returns pointers to what is wrong */
  readonly judge: (payload: JsonObject) => readonly string[];
  /** Items of lists may be left out: what is offered, never what was done. */
  readonly items: boolean;
}

interface Better {
  /** What is wrong still. */
  readonly wrong: readonly string[];
  readonly left?: string;
}

/** Makes the smallest change that mends one of the errors, and does not make another of it. */
function mend(payload: JsonObject, wrong: readonly string[], { judge, items }: Judging): Better | undefined {
  const tryout = (steps: Steps, undo: () => void): readonly string[] | undefined => {
    const above = steps.slice(0, -1).map(pointerStep).join("");
    const now = judge(payload);
    const inList = Array.isArray(at(payload, steps.slice(0, -1)));
    // It was needed: it is missed, or what held it is nothing without it.
    const missed = !inList && now.includes(`${above}${pointerStep(steps.at(-1))}`);
    if (!missed && (wrong.includes(above) || !now.includes(above))) return now;
    undo();
    return undefined;
  };
  const pointers = [...new Set(wrong)].sort((a, b) => b.length - a.length);
  for (const pointer of pointers.slice(0, MOST.tried)) {
    const whole = stepsOf(pointer);
    const added = putIn(payload, whole);
    const mended = added && tryout(whole, added);
    if (mended !== undefined) return { wrong: mended };
    for (let steps: Steps = whole; steps.length > 0; steps = steps.slice(0, -1)) {
      if (!items && Array.isArray(at(payload, steps.slice(0, -1)))) break;
      const undo = takeOut(payload, steps);
      const rest = undo && tryout(steps, undo);
      if (rest !== undefined) return { wrong: rest, left: pattern(steps) };
    }
  }
  return undefined;
}
