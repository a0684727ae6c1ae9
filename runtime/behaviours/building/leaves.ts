/** What transformers have made, kept for a while so that it can be made better. */
import { eachAlone } from "../../queue/periodic.js";
import { ToolError } from "../../seller/tool-error.js";
import type { Upkeep } from "../frame/behaviour.js";
import type { BehaviourCall } from "../frame/call.js";
import { collection } from "../frame/collection.js";
import { seldom } from "../frame/seldom.js";
import type { CreativeManifest } from "../previews/manifest.js";
import type { Knobs } from "./config.js";

export interface Leaf {
  readonly build_variant_id: string;
  readonly parent_build_variant_id?: string;
  readonly transformer_id: string;
  /** The account that has paid. */
  readonly account_id: string | undefined;
  /** The seller's own id of the format. */
  readonly format: string;
  readonly config: Knobs;
  readonly message: string;
  /** With the names that the format has for its assets. */
  readonly manifest: CreativeManifest;
  /** Answered by its canonical format; what comes of it is too. */
  readonly canonical: boolean;
  readonly made_at: string;
}

const LEAVES = "build_variant";
const leaves = collection<Leaf>(LEAVES);

/** How long it can be made better, in seconds: a month. */
export const RETENTION_S = 30 * 86_400;

export const keepLeaf = (call: BehaviourCall, leaf: Leaf): void =>
  leaves.put(call, call.principal, leaf.build_variant_id, leaf);

const isLapsed = (call: BehaviourCall, { made_at }: Leaf): boolean =>
  call.now.getTime() - Date.parse(made_at) > RETENTION_S * 1_000;

/** @throws ToolError REFERENCE_NOT_FOUND for one that is not the caller's, or that is kept no longer */
export async function leafOf(call: BehaviourCall, id: string): Promise<Leaf> {
  const found = await leaves.get(call, call.principal, id);
  if (found !== undefined && !isLapsed(call, found)) return found;
  throw new ToolError("REFERENCE_NOT_FOUND", "nothing of that id is kept here", {
    field: "refine_from_build_variant_id",
  });
}

/** How often they are looked at, in milliseconds. */
const PAUSE_MS = 3_600_000;

export const tidyLeaves = seldom(PAUSE_MS, async ({ settings, stopping, onBehalf }: Upkeep): Promise<void> => {
  await eachAlone(await settings.store.owners(LEAVES), async (principal) => {
    if (!stopping.aborted) await onBehalf(principal, removeLapsed);
  });
});

async function removeLapsed(call: BehaviourCall): Promise<void> {
  for (const leaf of await leaves.list(call, call.principal))
    if (isLapsed(call, leaf)) leaves.remove(call, call.principal, leaf.build_variant_id);
}
