/** `./run interop <peer> --part registry`: the SDKs' registry clients against ours, one line a method. */
import type { Totals } from "../../../cli/closing-line.js";
import type { PeerName } from "../signing/judge.js";
import { preparePython } from "../signing/python.js";
import type { MethodCell } from "./cells.js";
import { pythonCells } from "./python.js";
import { typescriptCells } from "./typescript.js";
import { openRegistryWorld } from "./world.js";

/** Cells and what they come to; a method that is not offered, and says so, is known. */
export function totalsOf(cells: readonly MethodCell[]): Totals {
  const of = (verdict: MethodCell["verdict"]): number => cells.filter((cell) => cell.verdict === verdict).length;
  return { passed: of("works"), failed: of("FAILED"), known: of("not offered") + of("the client's") };
}

export async function judgeRegistry(peer: PeerName): Promise<Totals> {
  const missing = peer === "python" ? preparePython() : undefined;
  if (missing !== undefined) {
    console.log(`skipped: ${missing}`);
    return { passed: 0, failed: 0, skipped: 1 };
  }
  const world = await openRegistryWorld();
  try {
    const cells = await (peer === "python" ? pythonCells(world) : typescriptCells(world));
    for (const { method, verdict, why } of cells)
      console.log(verdict === "works" ? `works: ${method}` : `${verdict}: ${method}: ${why}`);
    return totalsOf(cells);
  } finally {
    await world.close();
  }
}
