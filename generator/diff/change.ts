/** A change of one place, before anybody was asked for a proof. */
import type { Json, UnionShape } from "../model/shape.js";
import type { Forms } from "./form.js";
import type { ShapePart } from "./part.js";
import type { RuleId } from "./rules.js";
import type { ValueStep } from "./sample.js";

/** What is done to a value that both releases accept, for one of them to refuse it. */
export type Attempt =
  | { readonly kind: "value"; readonly value: Json }
  | { readonly kind: "drop"; readonly name: string }
  | { readonly kind: "put"; readonly name: string; readonly value: Json };

/** One direction of a change: proven to take nothing away, or what may show that it does. */
export type ChangeClaim =
  | { readonly contained: true }
  | { readonly tries: () => Iterable<Attempt>; readonly undeclared?: boolean };

export const contained: ChangeClaim = { contained: true };

export interface DiffPlace {
  readonly a: ShapePart[];
  readonly b: ShapePart[];
  readonly at: readonly ValueStep[];
  /** Alternatives that were gone through on the way. */
  readonly choices: ReadonlyMap<UnionShape, number>;
  /** Below alternatives of which exactly one may hold: more allowed here may be less allowed there. */
  readonly exclusive: boolean;
  /** Place of the outermost alternatives gone through; another of them may take in what one refuses. */
  readonly within?: string;
}

export interface ShapeChange {
  readonly rule: RuleId;
  readonly place: DiffPlace;
  readonly pointerA: string;
  readonly pointerB: string;
  readonly message: string;
  /** What the older release accepts, and whether the newer one does. */
  readonly forward: ChangeClaim;
  readonly backward: ChangeClaim;
}

/** What comparers are handed. */
export interface Comparing {
  readonly forms: Forms;
  add(change: ShapeChange): void;
  /** Has a place inside compared, in its turn. */
  enter(place: DiffPlace): void;
}

/** A name that nobody declares; a place is told with `*` for it. */
export const STRANGER = "unheard_of";

export const placeText = (at: readonly ValueStep[]): string =>
  at
    .map((step) =>
      "name" in step
        ? `/${step.name === STRANGER ? "*" : step.name.replaceAll("~", "~0").replaceAll("/", "~1")}`
        : "/-",
    )
    .join("");

/** As a sentence has it. */
const shown = (value: Json): string => {
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
};

export const listed = (values: readonly Json[], most = 6): string =>
  values.slice(0, most).map(shown).join(", ") + (values.length > most ? ` and ${values.length - most} more` : "");
