/** A change of one place, before anybody was asked for a proof. */
import type { Json, UnionShape } from "../model/shape.js";
import type { Forms } from "./form.js";
import type { Part } from "./part.js";
import type { RuleId } from "./rules.js";
import type { Step } from "./sample.js";

/** What is done to a value that both releases accept, for one of them to refuse it. */
export type Attempt =
  | { readonly kind: "value"; readonly value: Json }
  | { readonly kind: "drop"; readonly name: string }
  | { readonly kind: "put"; readonly name: string; readonly value: Json };

/** One direction of a change: proven to take nothing away, or what may show that it does. */
export type Claim = { readonly contained: true } | { readonly tries: () => Attempt[]; readonly undeclared?: boolean };

export const contained: Claim = { contained: true };

export interface Place {
  readonly a: Part[];
  readonly b: Part[];
  readonly at: readonly Step[];
  /** Alternatives that were gone through on the way. */
  readonly choices: ReadonlyMap<UnionShape, number>;
  /** Below alternatives of which exactly one may hold: more allowed here may be less allowed there. */
  readonly exclusive: boolean;
}

export interface Change {
  readonly rule: RuleId;
  readonly place: Place;
  readonly pointerA: string;
  readonly pointerB: string;
  readonly message: string;
  /** What the older release accepts, and whether the newer one does. */
  readonly forward: Claim;
  readonly backward: Claim;
}

/** What comparers are handed. */
export interface Comparing {
  readonly forms: Forms;
  add(change: Change): void;
  /** Has a place inside compared, in its turn. */
  enter(place: Place): void;
}

export const placeText = (at: readonly Step[]): string =>
  at.map((step) => ("name" in step ? `/${step.name.replaceAll("~", "~0").replaceAll("/", "~1")}` : "/-")).join("");

/** As a sentence has it. */
export const shown = (value: Json): string => {
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
};

export const listed = (values: readonly Json[], most = 6): string =>
  values.slice(0, most).map(shown).join(", ") + (values.length > most ? ` and ${values.length - most} more` : "");
