/** Which shapes are types of their own, and what each is called. */

import type { Model } from "../../model/model.js";
import { eachInside, type Json, type Shape, type UnionShape } from "../../model/shape.js";
import { nameDocuments, pascalCase, splitPlace } from "../names.js";
import { type Context, essentialParts, isRefinement, isSilent } from "./reading.js";

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

/** Columns of values that are worth a name where they would be written twice. */
const WIDE = 80;

/** Alternatives with names that are. */
const MANY = 3;

export class TypeNames {
  readonly byShape = new Map<Shape, Named>();
  readonly byName = new Map<string, Named>();
  private readonly documents: ReadonlyMap<string, { typeName: string; unit: string }>;
  private readonly titles = new Map<string, number>();

  /** Finished answers that are less than their response. */
  private readonly derived: { response: string; shape: Shape }[];
  /** Their names, before they have them. */
  private readonly reserved = new Set<string>();

  constructor(
    private readonly model: Pick<Model, "documents" | "places" | "resolve" | "tools">,
    private readonly taken: ReadonlySet<string>,
  ) {
    this.derived = model.tools.flatMap(({ response, arms }) =>
      arms.flatMap(({ shape }) =>
        shape === undefined || shape.kind === "reference" || model.resolve(shape.pointer) === shape
          ? []
          : [{ response, shape }],
      ),
    );
    this.documents = nameDocuments(
      model.documents.map(({ path }) => path),
      taken,
    );
    for (const { typeName } of this.documents.values()) this.titles.set(typeName, 1);
    for (const { shape } of model.documents) this.countTitles(shape, true);
    for (const { path, shape } of model.documents) this.add(this.documents.get(path)!.typeName, shape, []);
    for (const { response } of this.derived) this.reserved.add(`${this.at(response).name}Completed`);
    // A member of a union is called by what tells it from the others, which shows when the union is come to.
    const [members, others] = [model.places.filter(isMember), model.places.filter((ref) => !isMember(ref))];
    for (const ref of others) this.namePlace(ref);
    for (const { shape } of model.documents) this.visitBody(shape, this.byShape.get(shape)!.name, "", []);
    for (const ref of members) this.namePlace(ref);
    for (const ref of model.places) {
      const named = this.byShape.get(model.resolve(ref)!)!;
      this.visitBody(named.shape, named.name, "", named.context);
    }
    this.addDerived();
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
        this.add(this.unused(...this.labelsOf(shape.pointer)), shape, []);
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

  /** Types that no schema stands for by itself, in the files of the documents they are made from. */
  private addDerived(): void {
    for (const { response, shape } of this.derived) {
      if (this.byShape.has(shape)) continue;
      const wanted = `${this.at(response).name}Completed`;
      this.reserved.delete(wanted);
      this.add(this.unused(wanted), shape, []);
    }
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
    return /^[A-Z]/.test(name) && !this.byName.has(name) && !this.taken.has(name) && !this.reserved.has(name);
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

  /** Names from where a shape stands: the document's, its folders before it, and the names of what leads there. */
  private labelsOf(pointer: string): string[] {
    const place = splitPlace(pointer);
    const all = place.pointer.split("/").slice(1);
    const steps = all
      .map((step) => (step === "items" ? "item" : step === "additionalProperties" ? "value" : step))
      .filter((step) => !/^(properties|allOf|oneOf|anyOf|definitions|\$defs|patternProperties|\d+)$/.test(step))
      .map(pascalCase)
      .join("");
    const last = all.at(-1) ?? "";
    const variant = /^\d+$/.test(last) ? `${steps}Variant${Number(last) + 1}` : steps;
    return [this.ownerOf(pointer) + variant, place.path.replace(/\.json$/, "-") + variant];
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
    const named = own || (isMember(ref) ? "" : pascalCase(last));
    this.add(
      this.unused(...(isAlone ? [own] : []), ...(named === "" ? [] : [owner + named]), ...this.labelsOf(ref)),
      shape,
      [],
    );
  }

  /** What is inside a shape that has a name, or is written where it stands. */
  private visitBody(shape: Shape, owner: string, label: string, context: Context): void {
    if (shape.kind === "all") {
      const inner = [shape, ...context];
      const parts = essentialParts(shape);
      for (const part of shape.parts) {
        const fields = parts.length > 1 && this.byShape.has(shape) && part.kind === "object" && !this.byShape.has(part);
        if (fields && part.properties.length >= WORTH_FIELDS && !isRefinement(part, context, this.model.resolve))
          this.add(this.unused(`${owner}Fields`, `${owner}OwnFields`, ...this.labelsOf(part.pointer)), part, inner);
        if (this.byShape.get(part)?.shape === part && fields) this.visitBody(part, owner, label, inner);
        else this.visit(part, owner, label, inner);
      }
      return;
    }
    if (shape.kind === "union") {
      for (const [index, member] of shape.members.entries()) {
        const wanted = isObjectShape(member) ? this.memberNames(shape, index, owner + label) : [];
        this.visit(member, owner, label, context, wanted);
      }
      return;
    }
    if (shape.kind === "array") {
      // An array that may not be empty is written as its first element and the rest.
      const twice = (shape.minItems ?? 0) > 0 && isWide(shape.items);
      this.visit(shape.items, owner, `${label}Item`, [], twice ? [`${owner}${label}Item`] : []);
      return;
    }
    eachInside(shape, (inner, step) => this.visit(inner, owner, label + pascalCase(step), []));
  }

  /** @param wanted what to call it where it has no title; undefined where it needs no name */
  private visit(shape: Shape, owner: string, label: string, context: Context, wanted: string[] = []): void {
    const name = this.byShape.get(shape)?.name ?? this.nameOf(shape, owner, label, wanted);
    if (name === undefined) this.visitBody(shape, owner, label, context);
    else if (!this.byShape.has(shape)) {
      this.add(name, shape, context);
      this.visitBody(shape, name, "", context);
    }
  }

  private nameOf(shape: Shape, owner: string, label: string, wanted: readonly string[]): string | undefined {
    const title = isSilent(shape) ? undefined : titleOf(shape);
    const path = owner + label;
    if (title !== undefined) {
      const isAlone = this.titles.get(title) === 1;
      return this.unused(...(isAlone ? [title] : []), this.ownerOf(shape.pointer) + title, path + title);
    }
    if (wanted.length > 0 && !isSilent(shape)) return this.unused(...wanted, ...this.labelsOf(shape.pointer));
    const large = shape.kind === "object" && shape.properties.length >= LARGE && label !== "";
    return large ? this.unused(path, ...this.labelsOf(shape.pointer)) : undefined;
  }

  /** A member without a title is called by the value, or the demanded name, that tells it from the others. */
  private memberNames(union: UnionShape, index: number, path: string): string[] {
    const values = union.discriminator?.values[index];
    const demanded = union.members.map((member) => demandedNames(member));
    const isOwn = (name: string) => demanded.every((names, other) => other === index || !names.includes(name));
    const own = demanded[index]!.find(isOwn);
    return [
      ...(values?.length === 1 ? [path + pascalCase(valueText(values[0]!))] : []),
      ...(own === undefined ? [] : [`${path}With${pascalCase(own)}`]),
    ];
  }
}

const isObjectShape = ({ kind }: Shape): boolean => kind === "object" || kind === "all";

/** What takes more than a line, or most of one, where it is written out. */
function isWide(shape: Shape): boolean {
  if (shape.kind === "enum") return shape.values.map((value) => JSON.stringify(value)).join(" | ").length > WIDE;
  if (shape.kind === "union") {
    const named = shape.members.filter((one) => isObjectShape(one) || one.kind === "reference");
    return named.length >= MANY || shape.members.some((one) => one.kind === "enum" && isWide(one));
  }
  return isObjectShape(shape) || shape.kind === "map";
}

/** A place that is one of several alternatives. */
const isMember = (ref: string): boolean => /\/(?:oneOf|anyOf)\/\d+$/.test(ref);

const valueText = (value: Json): string => (typeof value === "string" ? value : JSON.stringify(value));

function demandedNames(shape: Shape): string[] {
  if (shape.kind === "all") return shape.parts.flatMap(demandedNames);
  return shape.kind === "object" ? shape.properties.filter(({ required }) => required).map(({ name }) => name) : [];
}

/** The name a title gives; a titled shape gets a type of its own when it is more than a scalar. */
function titleOf(shape: Shape): string | undefined {
  if (shape.title === undefined || !["object", "union", "all", "enum"].includes(shape.kind)) return undefined;
  const name = pascalCase(shape.title);
  return /^[A-Z]/.test(name) ? name : undefined;
}
