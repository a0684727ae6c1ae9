/** `./run interop matrix`: caller x seller x transport x step, over the lines of the corpus. */
import type { Totals } from "../../../cli/closing-line.js";
import { type TransportName, transportNames } from "../../../runtime/contract/index.js";
import { createValidator } from "../../../runtime/validate/index.js";
import { wholeRelease } from "../../support/whole-release.js";
import { type Line, lineOf } from "./answers.js";
import { type Cell, shared, steps } from "./steps.js";
import { openSellerWorld, type SellerWorld } from "./world.js";

/** The newest release of each line in the corpus. */
const versions = ["3.2.4", "3.1.19", "3.0.26"] as const;

export interface MatrixParts {
  readonly lines: readonly Line[];
  /** Who speaks what: one line each, and one who has them all. */
  readonly parties: Readonly<Record<string, readonly Line[]>>;
}

export async function matrixParts(): Promise<MatrixParts> {
  const lines: Line[] = [];
  for (const version of versions) {
    const { release } = await wholeRelease(version);
    lines.push(await lineOf(release, await createValidator(release)));
  }
  const alone = Object.fromEntries([...lines].reverse().map((line) => [line.name, [line]]));
  return { lines, parties: { ...alone, all: lines } };
}

/** What a cell came to, step by step; undefined where the step passed. */
export interface Judged {
  readonly caller: string;
  readonly seller: string;
  readonly transport: TransportName;
  readonly agreed: string | undefined;
  readonly faults: Readonly<Record<string, string | undefined>>;
}

export interface CellOf {
  readonly caller: string;
  readonly seller: string;
  readonly transport: TransportName;
}

/** Judges one cell before a seller that is open. */
export async function judgeCell(
  { parties }: MatrixParts,
  { caller: callerName, seller: sellerName, transport }: CellOf,
  seller: SellerWorld,
): Promise<Judged> {
  const [speaks, serves] = [parties[callerName]!, parties[sellerName]!];
  const caller = await seller.buyer(speaks, transport);
  const cell: Cell = { seller, serves, caller, speaks };
  const faults: Record<string, string | undefined> = {};
  try {
    for (const [name, step] of Object.entries(steps)) {
      faults[name] = await step(cell).catch((error: unknown) => String(error).slice(0, 240));
    }
  } finally {
    await caller.close();
  }
  return { caller: callerName, seller: sellerName, transport, agreed: shared(cell)?.name, faults };
}

const names = Object.keys(steps);
/** `refused` and two blanks at least. */
const widthOf = (name: string): number => Math.max(name.length, 7) + 2;
const column = (text: string, width: number): string => text.padEnd(width);

function row({ caller, seller, transport, agreed, faults }: Judged): string {
  const cells = names.map((name) =>
    column(faults[name] !== undefined ? "FAILED" : agreed === undefined ? "refused" : "ok", widthOf(name)),
  );
  return [column(caller, 8), column(seller, 8), column(transport, 11), column(agreed ?? "none", 8), ...cells].join("");
}

export async function judgeMatrix(): Promise<Totals> {
  const parts = await matrixParts();
  const totals = { passed: 0, failed: 0 };
  const told: string[] = [];
  const heads = ["caller", "seller", "transport", "spoken"].map((head, at) => column(head, [8, 8, 11, 8][at]!));
  console.log(`${heads.join("")}${names.map((name) => column(name, widthOf(name))).join("")}`);
  for (const seller of Object.keys(parts.parties)) {
    const world = await openSellerWorld(parts.parties[seller]!);
    try {
      for (const caller of Object.keys(parts.parties)) {
        for (const transport of transportNames) {
          const judged = await judgeCell(parts, { caller, seller, transport }, world);
          console.log(row(judged));
          for (const [name, fault] of Object.entries(judged.faults)) {
            if (fault === undefined) totals.passed++;
            else {
              totals.failed++;
              told.push(`FAILED ${caller} -> ${seller} over ${transport}, ${name}: ${fault}`);
            }
          }
        }
      }
    } finally {
      await world.close();
    }
  }
  if (told.length > 0) console.log(`\n${told.join("\n")}`);
  return totals;
}
