/** Which shapes are types of their own, and what each is called. */

import type { DocumentModel, Model } from "../../model/model.js";
import { eachInside, type Json, type Shape, type UnionShape } from "../../model/shape.js";
import { nameDocuments, pascalCase, splitPlace } from "../names.js";
import { type Context, isRefinement, isSilent } from "./reading.js";

/** A type of the release, before it is written. */
export interface Named {
  name: string;
  /** File of the type, without extension. */
  unit: string;
  /** `core/error.json` or `core/error.json#/$defs/issue` */
  source: string;
  shape: Shape;
  /** What else holds of the same value where the shape stands. */
  context: Context;
}

/** An inline object with as many properties gets a type of its own: a hover over more is no help. */
const LARGE = 6;

/** Properties from which the part of a type that is its own is a type, beside what it is combined with. */
const WORTH_FIELDS = 3;

export class TypeNames {
  readonly byShape = new Map<Shape, Named>();
  readonly byName = new Map<string, Named>();
  private readonly documents: ReadonlyMap<string, { typeName: string; unit: string }>;
  private readonly titles = new Map<string, number>();

  constructor(
    private readonly model: Pick<Model, "documents" | "places" | "resolve">,
    private readonly taken: ReadonlySet<string>,
  ) {
    this.documents = nameDocuments(
      model.documents.map(({ path }) => path),
      taken,
    );
    for (const { typeName } of this.documents.values()) this.titles.set(typeName, 1);
    for (const { shape } of model.documents) this.countTitles(shape, true);
    for (const { path, shape } of model.documents) this.add(this.documents.get(path)!.typeName, shape, []);
    for (const ref of model.places) this.namePlace(ref);
    for (const { shape } of model.documents) this.visitBody(shape, this.byShape.get(shape)!.name, "", []);
    for (const ref of model.places) {
      const named = this.byShape.get(model.resolve(ref)!)!;
      this.visitBody(named.shape, named.name, "", named.context);
    }
  }

  /** The type at `<path>` or `<path>#<pointer>`. */
  at(ref: string): Named {
    const shape = this.model.resolve(ref);
    const named = shape === undefined ? undefined : this.byShape.get(shape);
    if (named === undefined) throw new Error(`no type was made for ${ref}`);
    return named;
  }

  /** Names what is written in two places, unless it has a name or is short. @returns something was named */
  share(shape: Shape): boolean {
    if (this.byShape.has(shape)) return false;
    switch (shape.kind) {
      case "object":
      case "all": {
        this.add(this.unused(this.labelOf(shape.pointer)), shape, []);
        return true;
      }
      case "array":
        return this.share(shape.items);
      case "union": {
        const shared = shape.members.map((member) => this.share(member));
        return shared.some((one) => one);
      }
      default:
        return false;
    }
  }

  /** A type that no schema stands for by itself, in the file of the document it was made from. */
  addDerived(wanted: string, shape: Shape): Named {
    return this.byShape.get(shape) ?? this.add(this.unused(wanted), shape, []);
  }

  private unitOf(pointer: string): string {
    return this.documents.get(splitPlace(pointer).path)!.unit;
  }

  private ownerOf(pointer: string): string {
    return this.documents.get(splitPlace(pointer).path)!.typeName;
  }

  private add(name: string, shape: Shape, context: Context): Named {
    const named = { name, unit: this.unitOf(shape.pointer), source: shape.pointer, shape, context };
    this.byShape.set(shape, named);
    this.byName.set(name, named);
    return named;
  }

  private isFree(name: string): boolean {
    return /^[A-Z]/.test(name) && !this.byName.has(name) && !this.taken.has(name);
  }

  /** The name, or as it must be where another type has it. */
  private unused(...wanted: string[]): string {
    const found = wanted.map(pascalCase).find((name) => this.isFree(name));
    if (found !== undefined) return found;
    const last = pascalCase(wanted.at(-1)!);
    let count = 2;
    while (!this.isFree(`${last}${count}`)) count++;
    return `${last}${count}`;
  }

  /** A name from where a shape stands: the document's, and the names of what leads there. */
  private labelOf(pointer: string): string {
    const steps = splitPlace(pointer)
      .pointer.split("/")
      .slice(1)
      .map((step) => (step === "items" ? "item" : step === "additionalProperties" ? "value" : step))
      .filter((step) => !/^(properties|allOf|oneOf|anyOf|definitions|\$defs|patternProperties|\d+)$/.test(step));
    return [this.ownerOf(pointer), ...steps.map(pascalCase)].join("");
  }

  private countTitles(shape: Shape, isRoot: boolean): void {
    const title = isRoot ? undefined : titleOf(shape);
    if (title !== undefined) this.titles.set(title, (this.titles.get(title) ?? 0) + 1);
    eachInside(shape, (inner) => this.countTitles(inner, false));
  }

  private namePlace(ref: string): void {
    const shape = this.model.resolve(ref)!;
    if (this.byShape.has(shape)) return;
    const last = ref.slice(ref.lastIndexOf("/") + 1);
    const title = shape.title === undefined ? "" : pascalCase(shape.title);
    const owner = this.ownerOf(ref);
    const own = /^[A-Z]/.test(title) ? title : "";
    const isAlone = own !== "" && (this.titles.get(own) ?? 0) <= 1;
    this.add(this.unused(...(isAlone ? [own] : []), owner + (own || pascalCase(last)), this.labelOf(ref)), shape, []);
  }

  /** What is inside a shape that has a name, or is written where it stands. */
  private visitBody(shape: Shape, owner: string, label: string, context: Context): void {
    if (shape.kind === "all") {
      const inner = [shape, ...context];
      for (const part of shape.parts) {
        const fields = part.kind === "object" && isNamed(this.byShape, shape) && part.properties.length >= WORTH_FIELDS;
        if (fields && !this.byShape.has(part) && !isRefinement(part, context, this.model.resolve))
          this.visit(part, owner, label, inner, `${owner}Fields`);
        else this.visit(part, owner, label, inner);
      }
      return;
    }
    if (shape.kind === "union") {
      for (const [index, member] of shape.members.entries())
        this.visit(member, owner, label, context, this.memberName(shape, index, owner + label));
      return;
    }
    if (shape.kind === "array") {
      // An array that may not be empty is written as its first element and the rest.
      const twice = (shape.minItems ?? 0) > 0 && (shape.items.kind === "object" || shape.items.kind === "all");
      this.visit(shape.items, owner, `${label}Item`, [], twice ? `${owner}${label}Item` : undefined);
      return;
    }
    eachInside(shape, (inner, step) => this.visit(inner, owner, label + pascalCase(step), []));
  }

  /** @param wanted what to call it where it has no title; undefined where it needs no name */
  private visit(shape: Shape, owner: string, label: string, context: Context, wanted?: string): void {
    const name = this.byShape.get(shape)?.name ?? this.nameOf(shape, owner, label, wanted);
    if (name === undefined) this.visitBody(shape, owner, label, context);
    else if (!this.byShape.has(shape)) {
      this.add(name, shape, context);
      this.visitBody(shape, name, "", context);
    }
  }

  private nameOf(shape: Shape, owner: string, label: string, wanted: string | undefined): string | undefined {
    const title = isSilent(shape) ? undefined : titleOf(shape);
    const path = owner + label;
    if (title !== undefined) {
      const isAlone = this.titles.get(title) === 1;
      return this.unused(...(isAlone ? [title] : []), this.ownerOf(shape.pointer) + title, path + title);
    }
    if (wanted !== undefined && (shape.kind === "object" || shape.kind === "all") && !isSilent(shape))
      return this.unused(wanted, this.labelOf(shape.pointer));
    const large = shape.kind === "object" && shape.properties.length >= LARGE && label !== "";
    return large ? this.unused(path, this.labelOf(shape.pointer)) : undefined;
  }

  /** A member without a title is called by the value, or the demanded name, that tells it from the others. */
  private memberName(union: UnionShape, index: number, path: string): string | undefined {
    const values = union.discriminator?.values[index];
    if (values?.length === 1) return path + pascalCase(valueText(values[0]!));
    const demanded = union.members.map((member) => demandedNames(member, this.model));
    const own = demanded[index]!.find((name) =>
      demanded.every((names, other) => other === index || !names.includes(name)),
    );
    return own === undefined ? undefined : `${path}With${pascalCase(own)}`;
  }
}

const isNamed = (names: ReadonlyMap<Shape, Named>, shape: Shape): boolean => names.has(shape);

const valueText = (value: Json): string => (typeof value === "string" ? value : JSON.stringify(value));

function demandedNames(shape: Shape, model: Pick<Model, "resolve">): string[] {
  if (shape.kind === "all") return shape.parts.flatMap((part) => demandedNames(part, model));
  return shape.kind === "object" ? shape.properties.filter(({ required }) => required).map(({ name }) => name) : [];
}

/** The name a title gives; a titled shape gets a type of its own when it is more than a scalar. */
function titleOf(shape: Shape): string | undefined {
  if (shape.title === undefined || !["object", "union", "all", "enum"].includes(shape.kind)) return undefined;
  const name = pascalCase(shape.title);
  return /^[A-Z]/.test(name) ? name : undefined;
}

export type { DocumentModel };
