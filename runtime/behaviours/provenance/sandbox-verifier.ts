/**
 * A verifier for development, in place of those that products list: it is asked over HTTP, as they would be, and goes by the
 * names of a creative's files: `ai-generated-true` and `ai-generated-false` say what it is to find.
 */

import type { JsonObject } from "../../contract/index.js";
import type { Logger } from "../../log.js";
import type { Seller } from "../../seller/create.js";
import type { BehaviourSettings } from "../frame/call.js";
import type { CreativeUpload, Provenance } from "../ports/creatives.js";
import type { ProvenancePort, VerifierFinding } from "../ports/provenance.js";

const PATH = "/sandbox/verifier";
/** How long it may take, in milliseconds: it is this process. */
const PATIENCE_MS = 3_000;
const CONFIDENCE = 0.95;

/** Asks it; what cannot be asked has no opinion. @param agentUrl of the seller, which serves it */
export const sandboxProvenance = (agentUrl: string, logger?: Pick<Logger, "warn">): ProvenancePort => ({
  async verify({ verifier, upload, provenance }) {
    const { feature_id, agent_url } = verifier;
    const creative_manifest = { assets: upload.assets, provenance };
    try {
      const answer = await fetch(new URL(PATH, agentUrl), {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ agent_url, feature_ids: [feature_id ?? "ai_generated"], creative_manifest }),
        signal: AbortSignal.timeout(PATIENCE_MS),
      });
      return answer.ok ? ((await answer.json()) as VerifierFinding) : undefined;
    } catch (error) {
      logger?.warn({ err: error }, "the sandbox's verifier could not be asked");
      return undefined;
    }
  },
});

interface Question {
  readonly agent_url: string;
  readonly feature_ids: readonly [string];
  readonly creative_manifest: { readonly assets: CreativeUpload["assets"]; readonly provenance: Provenance };
}

function found({
  agent_url,
  feature_ids: [feature_id],
  creative_manifest: { assets, provenance },
}: Question): VerifierFinding {
  const words = JSON.stringify(assets);
  const { human_oversight: oversight, disclosure } = provenance;
  const carvedOut = (oversight === "edited" || oversight === "directed") && disclosure?.required === false;
  const observation: JsonObject = {
    code: "OVERSIGHT_DISCLOSURE_CARVEOUT_CLAIMED",
    severity: "audit-worthy",
    recovery: "informational",
    field: "creative_manifest.provenance.disclosure.required",
    message: `The creative claims ${oversight} human oversight, and that it need not be disclosed.`,
    details: { agent_url, feature_id, claimed_value: { human_oversight: oversight, disclosure_required: false } },
  };
  return {
    feature_id,
    value: words.includes("ai-generated-true"),
    confidence: CONFIDENCE,
    ...(carvedOut && { audit_observations: [observation] }),
  };
}

/** Serves it, in development alone. */
export function sandboxVerifier(app: Seller["app"], { mode }: BehaviourSettings): void {
  if (mode !== "development") return;
  app.post(PATH, async ({ body }) => found((body as { readonly json: Question }).json));
}
