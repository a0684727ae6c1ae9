/** A place in its normal form: equal text, equal meaning. References, order, titles and descriptions leave no trace. */
import type { Condition, Resolve, Shape } from "../model/shape.js";
import { type Flat, flatten } from "./flat.js";
import type { ShapePart } from "./part.js";

const sorted = (texts: Iterable<string>): string[] => [...texts].sort();

export class Forms {
  private readonly known = new Map<Resolve, Map<Shape, string>>();
  private readonly short = new Map<string, string>();
  private readonly open = new Set<Shape>();

  /** The form of a place; two of one meaning may still have different ones, two different meanings never the same. */
  of(parts: readonly ShapePart[]): string {
    const [only] = parts;
    if (parts.length !== 1 || only === undefined) return this.named(this.write(flatten(parts)));
    const { shape, of } = only;
    const memo = this.known.get(of) ?? new Map<Shape, string>();
    this.known.set(of, memo);
    const known = memo.get(shape);
    if (known !== undefined) return known;
    // A schema that holds itself: where it is entered again its place stands for it.
    if (this.open.has(shape)) return `again:${shape.pointer}`;
    this.open.add(shape);
    const form = this.named(this.write(flatten(parts)));
    this.open.delete(shape);
    memo.set(shape, form);
    return form;
  }

  /** Forms hold forms; each gets a number, so that none grows with what is below it. */
  private named(text: string): string {
    const name = this.short.get(text) ?? `f${this.short.size}`;
    this.short.set(text, name);
    return name;
  }

  private write(flat: Flat): string {
    const one = (part: ShapePart): string => this.of([part]);
    return JSON.stringify([
      flat.never,
      flat.kinds === undefined ? "any" : sorted(flat.kinds),
      flat.values === undefined ? "any" : sorted(flat.values.map((value) => JSON.stringify(value))),
      sorted([...flat.bounds].map((bound) => JSON.stringify(bound))),
      sorted(flat.patterns),
      sorted(flat.formats),
      sorted([...flat.multiples].map(String)),
      flat.unique,
      sorted(
        [...flat.properties].map(([name, { required, declared, deprecated, parts }]) =>
          JSON.stringify([name, required, declared, deprecated, this.of(parts)]),
        ),
      ),
      sorted([...flat.named].map(([pattern, parts]) => JSON.stringify([pattern, this.of(parts)]))),
      sorted(
        flat.rests.map(({ names, patterns, part }) =>
          // What a closed part lists matters only where another part declares more.
          JSON.stringify([sorted(names), sorted(patterns), part === undefined ? "closed" : one(part)]),
        ),
      ),
      this.of0(flat.items),
      flat.tuples.map(({ items, rest }) => [items.map(one), one(rest)]),
      sorted(
        flat.unions.map(({ union, of }) =>
          JSON.stringify([union.mode, sorted(union.members.map((shape) => this.of([{ shape, of }])))]),
        ),
      ),
      sorted(flat.conditions.map(({ condition, of }) => this.condition(condition, of))),
    ]);
  }

  private of0(parts: readonly ShapePart[]): string {
    return parts.length === 0 ? "any" : this.of(parts);
  }

  condition(condition: Condition, of: Resolve): string {
    const one = (shape: Shape | undefined): string => (shape === undefined ? "any" : this.of([{ shape, of }]));
    switch (condition.kind) {
      case "if":
        return JSON.stringify(["if", one(condition.test), one(condition.whenTrue), one(condition.whenFalse)]);
      case "needs":
        return JSON.stringify(["needs", condition.property, sorted(condition.properties)]);
      case "contains":
        return JSON.stringify(["contains", one(condition.shape), condition.least ?? 1, condition.most ?? "any"]);
      case "entails":
        return JSON.stringify(["entails", condition.property, one(condition.shape)]);
      case "not":
      case "names":
        return JSON.stringify([condition.kind, one(condition.shape)]);
    }
  }
}
