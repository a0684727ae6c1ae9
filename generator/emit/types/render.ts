/**
 * Shape -> the JSON schema that the type compiler is given. It says what a type can say and nothing else; every
 * reference is the name of a type, and every type has been named before (`naming.ts`), so that the compiler resolves no
 * reference and never has to make a name up.
 */
import type {
  AllShape,
  ArrayShape,
  MapShape,
  ObjectShape,
  Property,
  Resolve,
  Shape,
  TupleShape,
  UnionShape,
} from "../../model/shape.js";
import { conditionalNames, conditionsAround } from "./conditional.js";
import { docLines } from "./docs.js";
import type { TypeNames } from "./naming.js";
import {
  type Context,
  declaredIn,
  elementsOf,
  essentialParts,
  forbidden,
  isRefinement,
  isSilent,
  isTypedMap,
  kindsBeside,
  partsOfType,
  takesNull,
} from "./reading.js";
import { ABSENT, ANY, ANYTHING_NAMED, EMPTY, literals, NEVER, orKinds, type Rendered, sealed } from "./rendered.js";

export interface RenderOptions {
  /** Objects that a schema does not close take any name, as JSON Schema has it. */
  open: boolean;
}

/** Most alternatives that differ only in what they demand which a type spells out. */
const MAX_ALTERNATIVES = 8;

/** Most combinations of such alternatives in one type: TypeScript multiplies them. */
const MAX_COMBINATIONS = 32;

/** Elements a type demands of a list at most: each is written out. */
const MAX_DEMANDED = 4;

/** Names that are open to what a release does not foresee, whatever they hold. */
const extensible = new Set(["ext", "context"]);

export class Renderer {
  /** Documents in which something written out got a name: what was rendered of them before may hold it still. */
  readonly renamed = new Set<string>();
  /** One for each type that is referred to: the compiler looks at what is shared once. */
  private readonly references = new Map<string, Rendered>();
  private readonly resolve: Resolve;

  constructor(
    private readonly names: TypeNames,
    resolve: Resolve,
    private readonly options: RenderOptions,
  ) {
    this.resolve = resolve;
  }

  /** The definition of a named type. */
  define(name: string, shape: Shape, context: Context): Rendered {
    const body = this.body(shape, context);
    return { ...body, ...this.docs(shape), title: name };
  }

  /** A shape where it is used: a reference where it has a name. */
  private use(shape: Shape, context: Context): Rendered {
    const named = this.names.byShape.get(shape);
    return named === undefined ? this.body(shape, context) : this.referTo(named.name);
  }

  /** The compiler would copy, follow and walk a `$ref`, which takes longer than all else it does; a name is a leaf. */
  private referTo(name: string): Rendered {
    const known = this.references.get(name) ?? { tsType: name };
    this.references.set(name, known);
    return known;
  }

  private docs(shape: Shape): Rendered {
    const lines = docLines(shape);
    return {
      ...(lines.length > 0 && { description: lines.join("\n") }),
    };
  }

  private body(shape: Shape, context: Context): Rendered {
    switch (shape.kind) {
      case "any":
        return this.refusals(shape) ?? ANY;
      case "never":
        return NEVER;
      case "scalar":
        // Bounds of texts say nothing of what is no text.
        if (shape.lenient === true) return ANY;
        return { type: shape.types.length === 1 ? shape.types[0] : shape.types };
      case "const":
        return literals([shape.value]);
      case "enum":
        return literals(shape.values);
      case "array":
        return this.array(shape, context);
      case "tuple":
        return this.tuple(shape);
      case "map":
        return this.map(shape);
      case "object":
        return this.object(shape, context);
      case "union":
        return this.taking(this.union(shape, context) ?? ANY, shape, context);
      case "all":
        return this.all(shape, context);
      case "reference": {
        const refused = this.refusals(shape);
        const target = this.referTo(this.names.at(shape.to).name);
        return refused === undefined ? target : { allOf: [target, refused] };
      }
    }
  }

  /** A type, and beside it the names that only conditions of the shape declare. */
  private taking(type: Rendered, shape: Shape, context: Context): Rendered {
    const names = this.conditional(shape, context);
    if (type === ANY || names.length === 0) return type;
    const named = sealed({ properties: Object.fromEntries(names), required: [] });
    // Null has no names, and nothing that has some: beside it they would leave no value.
    return { allOf: [type, this.orNull(named, shape)] };
  }

  private orNull(type: Rendered, shape: Shape): Rendered {
    return orKinds(type, takesNull(shape, this.resolve) ? ["null"] : []);
  }

  private conditional(shape: Shape, context: Context): [string, Rendered][] {
    const found = conditionalNames(conditionsAround(shape), [shape, ...context], this.resolve);
    return [...found].map(([name, held]) => [name, { ...ANY, ...this.docs(held) }]);
  }

  /** `{name?: never}` for each name that a negative condition keeps out. */
  private refusals(shape: Shape): Rendered | undefined {
    const refused = forbidden(shape);
    if (refused.length === 0) return undefined;
    return sealed({ properties: Object.fromEntries(refused.map((name) => [name, NEVER])), required: [] });
  }

  private array({ items, minItems = 0 }: ArrayShape, context: Context): Rendered {
    const outer = elementsOf(context, this.resolve);
    // What refines the elements of a list that another part declares is said of those elements, not of a second list.
    const refined = outer.length > 0 && isRefinement(items, outer, this.resolve);
    const element =
      isSilent(items) && outer.length > 0
        ? this.intersect(outer, [])
        : refined
          ? this.intersect([...outer.slice(0, 1), items], outer)
          : this.use(items, outer);
    return { type: "array", items: element, ...(minItems > 0 && { minItems: Math.min(minItems, MAX_DEMANDED) }) };
  }

  private intersect(shapes: readonly Shape[], context: Context): Rendered {
    const parts = shapes.map((shape) => this.use(shape, context));
    return parts.length === 1 ? parts[0]! : { allOf: parts };
  }

  private tuple({ items, rest, minItems = 0 }: TupleShape): Rendered {
    const tail = rest.kind === "never" ? false : this.use(rest, []);
    const places = items.map((one) => this.use(one, []));
    // Each length is said by itself: the compiler says them side by side without the parentheses that `[]` and `&` ask for.
    const ofLength = (length: number): Rendered =>
      length === 0 && places.length > 0
        ? EMPTY
        : {
            type: "array",
            items: places.slice(0, length),
            additionalItems: length === places.length ? tail : false,
            minItems: length,
          };
    const least = Math.min(minItems, places.length);
    const lengths = Array.from({ length: places.length - least + 1 }, (_, index) => ofLength(least + index));
    return lengths.length === 1 ? lengths[0]! : { anyOf: lengths };
  }

  private map(shape: MapShape): Rendered {
    const refused = this.refusals(shape);
    const body = this.mapBody(shape);
    return refused === undefined ? body : { allOf: [body, refused] };
  }

  private mapBody(shape: MapShape): Rendered {
    if (isTypedMap(shape)) return { type: "object", additionalProperties: this.values(shape, []) };
    return shape.openness === "closed" ? { tsType: "Record<string, never>" } : ANYTHING_NAMED;
  }

  /** What an index signature holds: it must take what the declared properties hold, too. */
  private values({ patterns = [], rest }: MapShape | ObjectShape, declared: readonly Property[]): Rendered {
    const shapes = [...patterns.map(({ shape }) => shape), ...(rest === undefined ? [] : [rest])];
    const rendered = shapes.map((shape) => this.use(shape, []));
    for (const { name, shape, required } of declared) {
      rendered.push(this.property(name, shape, []));
      if (!required && !rendered.includes(ABSENT)) rendered.push(ABSENT);
    }
    return rendered.length === 1 ? rendered[0]! : { anyOf: rendered };
  }

  /** @param around the `all` that the object is all a type says of */
  private object(shape: ObjectShape, context: Context, around?: AllShape): Rendered {
    const refused = new Set([...forbidden(shape), ...(around === undefined ? [] : forbidden(around))]);
    const properties: [string, Rendered][] = [];
    const required: string[] = [];
    const refining = context.length > 0;
    for (const property of shape.properties) {
      const { name } = property;
      // The compiler asks its input `hasOwnProperty`, so no property may be called so; the object is open for it instead.
      if (name === "hasOwnProperty") continue;
      const others = refining
        ? declaredIn(context, name, this.resolve)
            .map((one) => one.shape)
            .filter((one) => one !== property.shape)
        : [];
      if (refused.has(name) && !property.required) continue;
      if (!property.required && isSilent(property.shape) && others.length > 0) continue;
      if (property.required) required.push(name);
      properties.push([name, this.held(property, others)]);
    }
    // Where names without a declaration hold something, these hold that.
    for (const one of isTypedMap(shape) ? [] : [shape, ...(around === undefined ? [] : [around])])
      properties.push(...this.conditional(one, context).filter(([name]) => !refused.has(name)));
    for (const name of refused) if (!required.includes(name)) properties.push([name, NEVER]);
    const names = Object.fromEntries(properties);
    if (isTypedMap(shape)) {
      const own = shape.properties.filter((one) => names[one.name] !== undefined);
      return { type: "object", properties: names, required, additionalProperties: this.values(shape, own) };
    }
    const reopened = shape.properties.some(({ name }) => name === "hasOwnProperty");
    const open = reopened || (this.options.open && shape.openness === "open");
    return { ...sealed({ properties: names, required }), additionalProperties: open };
  }

  /** What a property holds. A name that is demanded where nothing says what it holds, holds what is said around it. */
  private held({ name, shape, declared }: Property, around: Shape[]): Rendered {
    const source = (!declared || isSilent(shape)) && around.length > 0 ? around[0]! : shape;
    if (source !== shape && this.names.share(source)) this.renamed.add(source.pointer.split("#")[0]!);
    return { ...this.property(name, source, source === shape ? around : []), ...this.docs(shape) };
  }

  private property(name: string, shape: Shape, context: Context): Rendered {
    const used = this.use(shape, context);
    if (!extensible.has(name) || this.options.open || context.length > 0 || !this.declaresNames(shape)) return used;
    return { allOf: [used, ANYTHING_NAMED] };
  }

  private declaresNames(shape: Shape): boolean {
    if (shape.kind === "reference") {
      const target = this.resolve(shape.to);
      return target !== undefined && this.declaresNames(target);
    }
    return shape.kind === "object" && shape.openness === "open" && !isTypedMap(shape);
  }

  private all(shape: AllShape, context: Context): Rendered {
    const inner = [shape, ...context];
    const [only, ...more] = essentialParts(shape);
    if (more.length === 0 && only?.kind === "object" && !this.names.byShape.has(only))
      return orKinds(this.object(only, inner, shape), kindsBeside(shape, only));
    let combinations = 1;
    const parts: Rendered[] = [];
    for (const part of partsOfType(shape)) {
      if (part.kind === "union" && !this.names.byShape.has(part)) {
        const alternatives = this.union(part, inner, combinations);
        combinations *= part.members.length;
        if (alternatives !== undefined) parts.push(orKinds(alternatives, kindsBeside(shape, part)));
      } else if (!isSilent(part)) parts.push(orKinds(this.use(part, inner), kindsBeside(shape, part)));
    }
    const refused = this.refusals(shape);
    if (refused !== undefined) parts.push(this.orNull(refused, shape));
    if (parts.length > 0) return this.taking(parts.length === 1 ? parts[0]! : { allOf: parts }, shape, context);
    const kind = shape.parts.find((part) => part.kind !== "any");
    return kind === undefined ? ANY : this.use(kind, context);
  }

  /** @returns undefined where the union says nothing that a type can say */
  private union(shape: UnionShape, context: Context, combinations = 1): Rendered | undefined {
    const refining = context.length > 0;
    if (refining && shape.members.some(isSilent)) return undefined;
    if (!refining && shape.members.some((member) => member.kind === "any" && isSilent(member))) return undefined;
    const isRefining = refining && shape.members.every((member) => isRefinement(member, context, this.resolve));
    const many = shape.members.length > MAX_ALTERNATIVES || combinations * shape.members.length > MAX_COMBINATIONS;
    // Too many to write out: which of them holds is for validators.
    if (isRefining && many) return undefined;
    return { anyOf: shape.members.map((member) => this.use(member, context)) };
  }
}
