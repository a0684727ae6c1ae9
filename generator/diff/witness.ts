/** The search for a payload that one release accepts and the other refuses. */
import type { Json } from "../model/shape.js";
import type { Attempt, DiffPlace } from "./change.js";
import {
  always,
  type DiffJudge,
  holderOf,
  insideAlternative,
  instancePathOf,
  mended,
  type SchemaRefusal,
  type Sided,
  valueAt,
} from "./mend.js";
import { type SampleObject, type SampleOptions, sample, type ValueStep } from "./sample.js";

export interface Proof {
  readonly payload: Json;
  readonly because: string;
}

/** Tries upon each payload of a place: what shows a change shows it at once, or upon one made another way. */
const TRIES = [48, 12, 4, 4] as const;

const keyOf = ({ keyword, instancePath, params }: SchemaRefusal): string =>
  JSON.stringify([keyword, instancePath, params]);

export const reasonOf = ({ instancePath, message, keyword, params }: SchemaRefusal): string => {
  const name = params.additionalProperty ?? params.missingProperty;
  return `${instancePath === "" ? "the payload" : instancePath} ${message ?? keyword}${name === undefined || message?.includes(String(name)) ? "" : ` (${String(name)})`}`;
};

/** Much cheaper than a structured clone, of what is JSON. */
const copyOf = (value: Json): Json => (typeof value === "object" ? JSON.parse(JSON.stringify(value)) : value);

/** The payload with something else at a place; undefined where it cannot be done. */
function applied(base: Json, at: readonly ValueStep[], attempt: Attempt): Json | undefined {
  const copy = copyOf(base);
  if (attempt.kind === "value") {
    if (at.length === 0) return copyOf(attempt.value);
    const found = holderOf(copy, at);
    if (found === undefined) return undefined;
    (found.holder as SampleObject)[found.key] = copyOf(attempt.value);
    return copy;
  }
  const target = valueAt(copy, at);
  if (typeof target !== "object" || target === null || Array.isArray(target)) return undefined;
  if (attempt.kind === "put") target[attempt.name] = copyOf(attempt.value);
  else {
    if (!Object.hasOwn(target, attempt.name)) return undefined;
    delete target[attempt.name];
  }
  return copy;
}

/** A payload before anything is done to it, and what the reader's release says against it already. */
interface Base {
  readonly payload: Json;
  readonly known: ReadonlySet<string>;
}

/** Payloads that have a place, and that the sender's release accepts: those that both accept first. */
function* basesOf({ source, target, place }: Sought): Generator<Base> {
  const seen = new Set<string>();
  for (const turn of [0, 1]) {
    for (const sides of [[source, target], [source]] as const) {
      const options: SampleOptions = { path: place.at, choices: place.choices, turn };
      const payload = sample(
        sides.map(({ part }) => part),
        options,
      );
      const well = mended(payload, sides, always);
      const text = JSON.stringify(payload);
      if (!well || seen.has(text)) continue;
      seen.add(text);
      if (place.at.length > 0 && valueAt(payload, place.at) === undefined) continue;
      // What is said of the very place is what is looked for, where the two have no value in common.
      const own = instancePathOf(place.at);
      const against = sides.length === 1 ? target.judge(target.ref, payload) : [];
      const beside = against.filter(({ instancePath }) => own === "" || instancePath !== own);
      yield { payload, known: new Set(beside.map(keyOf)) };
    }
  }
}

/** A payload with something done to it that the sender's release accepts and the reader's refuses, for what was done. */
function tried({ payload: base, known }: Base, attempt: Attempt, { source, target, place }: Sought): Proof | undefined {
  if (attempt.kind === "put") {
    const proof = already(base, attempt, { target, place });
    if (proof !== undefined) return proof;
  }
  const payload = applied(base, place.at, attempt);
  if (payload === undefined) return attempt.kind === "drop" ? already(base, attempt, { target, place }) : undefined;
  if (source.judge(source.ref, payload).length > 0) {
    const focus = JSON.stringify(valueAt(payload, place.at));
    const ok = mended(payload, [source], ({ keyword }) => keyword === "required" || keyword === "additionalProperties");
    if (!ok || (attempt.kind !== "drop" && focus === undefined) || undone(payload, place.at, attempt)) return undefined;
  }
  const against = target.judge(target.ref, payload).filter((one) => !known.has(keyOf(one)));
  const [first] = against;
  if (first === undefined) return undefined;
  return { payload, because: reasonOf(against.find((one) => !insideAlternative(one)) ?? first) };
}

/** A payload that has, or lacks, a name already: the one release demands it, the other knows none. */
function already(
  payload: Json,
  { name }: Exclude<Attempt, { kind: "value" }>,
  { target, place }: Omit<Sought, "source">,
): Proof | undefined {
  const own = instancePathOf(place.at);
  const refusal = target
    .judge(target.ref, payload)
    .find((one) => one.instancePath === own && (one.params.missingProperty ?? one.params.additionalProperty) === name);
  return refusal === undefined ? undefined : { payload, because: reasonOf(refusal) };
}

/** Whether mending took back what the attempt was about. */
function undone(payload: Json, at: readonly ValueStep[], attempt: Attempt): boolean {
  if (attempt.kind === "value") return false;
  const target = valueAt(payload, at);
  if (typeof target !== "object" || target === null) return true;
  return Object.hasOwn(target, attempt.name) === (attempt.kind === "drop");
}

export interface Sought {
  /** Of the sender's release. */
  readonly source: Sided;
  /** Of the reader's. */
  readonly target: Sided;
  readonly place: DiffPlace;
}

/** Full searches for one change that found nothing, after which less is tried: another tool rarely shows what these did not. */
const FRUITLESS = 1;
const FEW = [6] as const;
const TIRED = [6, 6] as const;
/** Fruitless searches below the same alternatives, after which another takes in what one refuses, most likely. */
const FRUITLESS_WITHIN = 4;

/** A list that is made as far as it is gone through, and can be gone through again. */
class Replayed<T> {
  private readonly made: T[] = [];
  private readonly rest: Iterator<T>;

  constructor(list: Iterable<T>) {
    this.rest = list[Symbol.iterator]();
  }

  *first(count: number): Generator<T> {
    for (let index = 0; index < count; index++) {
      if (index === this.made.length) {
        const { value, done } = this.rest.next();
        if (done) return;
        this.made.push(value);
      }
      yield this.made[index]!;
    }
  }
}

/** Looks for proofs, and learns: what showed a change in one tool shows it in the next that shares the schema. */
export class Prover {
  private readonly bases = new WeakMap<DiffPlace, Map<DiffJudge, { made: Base[]; rest: Generator<Base> }>>();
  private readonly won = new Map<string, Attempt>();
  private readonly lost = new Map<string, number>();
  private readonly stuck = new Map<string, number>();

  /**
   * Looks for the proof that a change takes something away.
   * @param key the change, the same in every tool that shares it
   * @returns undefined where none was found
   */
  find(sought: Sought, key: string, tries: () => Iterable<Attempt>): Proof | undefined {
    const hint = this.won.get(key);
    const quick = hint === undefined ? undefined : this.search(sought, [hint], FEW);
    if (quick !== undefined) return quick.proof;
    const fruitless = this.lost.get(key) ?? 0;
    const scope = `${sought.source.ref} ${sought.place.within}`;
    const stuck = sought.place.within === undefined ? 0 : (this.stuck.get(scope) ?? 0);
    const tired = fruitless >= FRUITLESS || stuck >= FRUITLESS_WITHIN;
    const found = this.search(sought, tries(), tired ? TIRED : TRIES);
    if (found !== undefined) {
      this.won.set(key, found.attempt);
      return found.proof;
    }
    this.lost.set(key, fruitless + 1);
    this.stuck.set(scope, stuck + 1);
    return undefined;
  }

  private search(
    sought: Sought,
    attempts: Iterable<Attempt>,
    most: readonly number[],
  ): { proof: Proof; attempt: Attempt } | undefined {
    const ready = new Replayed(attempts);
    for (const [index, count] of most.entries()) {
      const base = this.base(sought, index);
      if (base === undefined) return undefined;
      for (const attempt of ready.first(count)) {
        const proof = tried(base, attempt, sought);
        if (proof !== undefined) return { proof, attempt };
      }
    }
    return undefined;
  }

  /** Payloads of a place are made once for all that changed there. */
  private base(sought: Sought, index: number): Base | undefined {
    const { source, place } = sought;
    const sides = this.bases.get(place) ?? new Map();
    this.bases.set(place, sides);
    const known = sides.get(source.judge) ?? { made: [], rest: basesOf(sought) };
    sides.set(source.judge, known);
    while (known.made.length <= index) {
      const { value, done } = known.rest.next();
      if (done) return undefined;
      known.made.push(value);
    }
    return known.made[index];
  }
}

/** A payload that one side accepts, as small as can be; undefined where none could be made. */
export function smallest(side: Sided): Json | undefined {
  for (const turn of [0, 1, 2, 3]) {
    const made = sample([side.part], { turn });
    if (mended(made, [side], always)) return made;
  }
  return undefined;
}
