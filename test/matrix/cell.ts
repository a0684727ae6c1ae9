/** One cell: a seller of a specialism on a release, written, compiled, started and checked, and a buyer's life with it. */
import { createBuyer } from "../../runtime/buyer/index.js";
import { checkAgent } from "../../runtime/conformance/index.js";
import type { Release } from "../../runtime/contract/index.js";
import type { AnyValidator } from "../../runtime/validate/index.js";
import { scaffold, startSeller } from "../conformance/served-seller.js";
import { typeCheck } from "../scaffold/project.js";
import { live } from "./life.js";

export interface Cell {
  readonly projects: string;
  readonly source: string;
  readonly release: Release;
  readonly validator: AnyValidator;
  readonly specialism: string;
}

/** Everything that is wrong in a cell; nothing where all is well. */
export async function judge({ projects, source, release, validator, specialism }: Cell): Promise<string[]> {
  const folder = await scaffold(projects, source, specialism);
  const types = await typeCheck(folder);
  if (types.code !== 0) return [`it does not compile: ${types.output.split("\n")[0]}`];
  const seller = await startSeller(folder, { TOKENS: undefined, MODE: "development" });
  const agent = { url: seller.url, transport: "mcp" } as const;
  const buyer = createBuyer({ release, agent, allowLocal: true });
  try {
    const checked = await checkAgent({ ...agent, release, specialisms: [specialism], mutating: true });
    const broken = checked.tools.flatMap(({ tool, checks }) =>
      checks
        .filter(({ outcome }) => outcome === "failed")
        .map(({ check, detail }) => `check ${tool} ${check}: ${detail}`),
    );
    const { failures } = await live({ buyer, release, validator, specialism });
    const missing = checked.missing.length > 0 ? [`nobody answers ${checked.missing.join(", ")}`] : [];
    const problem = checked.problem === undefined ? [] : [checked.problem];
    return [...problem, ...missing, ...broken, ...[...failures].map(([step, why]) => `${step}: ${why}`)];
  } finally {
    await buyer.close();
    await seller.stop();
  }
}

/** Specialisms of those who answer tools. */
export const sellers = (release: Release): string[] =>
  Object.entries(release.specialisms)
    .filter(([, { role }]) => role === undefined)
    .map(([id]) => id);
