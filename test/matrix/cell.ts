/** One cell: the project of a seller of a specialism on a release, started and checked, and a buyer's life with it. */
import { createBuyer } from "../../runtime/buyer/index.js";
import { checkAgent } from "../../runtime/conformance/index.js";
import type { Release } from "../../runtime/contract/index.js";
import type { AnyValidator } from "../../runtime/validate/index.js";
import { startSeller } from "../conformance/served-seller.js";
import { live } from "./life.js";
import type { Project } from "./projects.js";

export interface Cell {
  readonly project: Project;
  readonly release: Release;
  readonly validator: AnyValidator;
  readonly specialism: string;
}

/** Everything that is wrong in a cell; nothing where all is well. */
export async function judge({ project, release, validator, specialism }: Cell): Promise<string[]> {
  if (project.fault !== undefined) return [project.fault];
  const seller = await startSeller(project.folder, { TOKENS: undefined, MODE: "development" });
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
