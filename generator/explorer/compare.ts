/** A comparison of two releases as the explorer shows it: a change once, with both sides of it, however many tools share it. */
import type { DiffFinding, DiffReport, Witness } from "../diff/finding.js";
import { eachConditional, eachInside, type Shape } from "../model/shape.js";
import type { Book } from "./book.js";
import { conditionTexts } from "./conditions.js";
import { notesOf, typeText, valueText } from "./type-text.js";

/** What one release says at the place of a change. */
export interface SideText {
  readonly pointer: string;
  /** Its page, from the top of the site and with an anchor. */
  readonly page?: string;
  readonly lines: readonly string[];
}

export interface ChangeView {
  readonly id: string;
  readonly rule: string;
  readonly message: string;
  readonly verdict: string;
  readonly stability: string;
  readonly breaks: readonly string[];
  readonly undecided: readonly string[];
  readonly undeclaredOnly?: true;
  readonly reason?: string;
  readonly fix: string;
  /** Messages that have it, `tool side place` each. */
  readonly where: readonly { readonly tool: string | null; readonly side: string; readonly at: string }[];
  readonly a: SideText;
  readonly b: SideText;
  /** The payload that shows it, or what both releases say. */
  readonly witness?: Witness;
}

export interface CompareView {
  readonly from: DiffReport["from"];
  readonly to: DiffReport["to"];
  readonly summary: DiffReport["summary"];
  readonly changes: readonly ChangeView[];
}

/** Values of a list that a side shows. */
const MOST_VALUES = 40;

function* inside(shape: Shape, seen: Set<Shape>): Generator<Shape> {
  if (seen.has(shape)) return;
  seen.add(shape);
  yield shape;
  const found: Shape[] = [];
  eachInside(shape, (inner) => found.push(inner));
  eachConditional(shape, (inner) => found.push(inner));
  for (const inner of found) yield* inside(inner, seen);
}

/** Every shape of a release by where it stands; of several the outermost. */
function placesOf({ model }: Book): ReadonlyMap<string, Shape> {
  const places = new Map<string, Shape>();
  const seen = new Set<Shape>();
  for (const { shape } of model.documents)
    for (const one of inside(shape, seen)) if (!places.has(one.pointer)) places.set(one.pointer, one);
  return places;
}

const plain = (shape: Shape): string =>
  typeText(shape)
    .map((part) => (typeof part === "string" ? part : part.text))
    .join("");

function linesOf(shape: Shape): string[] {
  const values =
    shape.kind === "enum"
      ? [
          shape.values.slice(0, MOST_VALUES).map(valueText).join(", ") +
            (shape.values.length > MOST_VALUES ? ", ..." : ""),
        ]
      : [];
  const names =
    shape.kind === "object"
      ? [shape.properties.map(({ name, required }) => (required ? `${name}*` : name)).join(", ")].filter(
          (one) => one !== "",
        )
      : [];
  return [plain(shape), ...values, ...names, ...notesOf(shape), ...conditionTexts(shape)];
}

/** The place a change is about: what stands there, or, of a name that one side lacks, what holds it. */
function sideText(book: Book, places: ReadonlyMap<string, Shape>, pointer: string): SideText {
  const file = pointer.split("#")[0]!;
  const shape = places.get(pointer) ?? book.model.resolve(pointer);
  const page =
    manifestPage(book, pointer) ?? (book.documents.has(file) ? `${book.page("schemas", file)}.html` : undefined);
  return { pointer, ...(page !== undefined && { page }), lines: shape === undefined ? [] : linesOf(shape) };
}

const kinds = { tools: "tools", error_codes: "codes", specialisms: "specialisms" } as const;

function manifestPage(book: Book, pointer: string): string | undefined {
  const [, table, name] = /^manifest\.json#\/(tools|error_codes|specialisms)\/(.+)$/.exec(pointer) ?? [];
  if (table === undefined || name === undefined) return undefined;
  const page = book.page(kinds[table as keyof typeof kinds], name);
  return page === undefined ? undefined : `${page}.html`;
}

const keyOf = (one: DiffFinding): string =>
  one.side === "release"
    ? one.id
    : JSON.stringify([one.rule, one.pointerA, one.pointerB, one.message, one.verdict, one.undeclaredOnly === true]);

const weight = { broken: 0, undecided: 1, safe: 2 } as const;

const union = <T>(lists: readonly (readonly T[])[]): T[] => [...new Set(lists.flat())];

/** @param a,b the books that the report is of */
export function compareView(a: Book, b: Book, report: DiffReport): CompareView {
  const [placesA, placesB] = [placesOf(a), placesOf(b)];
  const groups = new Map<string, DiffFinding[]>();
  for (const one of report.findings) groups.set(keyOf(one), [...(groups.get(keyOf(one)) ?? []), one]);
  const changes = [...groups.values()].map((all): ChangeView => {
    const first = all.find(({ witness }) => witness !== undefined) ?? all[0]!;
    return {
      id: first.id,
      rule: first.rule,
      message: first.message,
      verdict: first.verdict,
      stability: first.stability,
      breaks: union(all.map(({ breaks }) => breaks)),
      undecided: union(all.map(({ undecided }) => undecided)),
      ...(first.undeclaredOnly && { undeclaredOnly: true as const }),
      ...(first.reason !== undefined && { reason: first.reason }),
      fix: first.fix,
      where: all.map(({ tool, side, at }) => ({ tool, side, at })),
      a: sideText(a, placesA, first.pointerA),
      b: sideText(b, placesB, first.pointerB),
      ...(first.witness !== undefined && { witness: first.witness }),
    };
  });
  const order = (one: ChangeView): number => weight[one.verdict as keyof typeof weight];
  changes.sort((x, y) => order(x) - order(y) || y.where.length - x.where.length || (x.id < y.id ? -1 : 1));
  return { from: report.from, to: report.to, summary: report.summary, changes };
}
