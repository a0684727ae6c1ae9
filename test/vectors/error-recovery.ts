/** What a caller does after an error, and whether whoever made it followed its release. */
import { existsSync } from "node:fs";
import path from "node:path";
import type { Release } from "../../runtime/contract/index.js";
import { type RetryDecision, retryDecision } from "../../runtime/extract/index.js";
import { producerFault } from "../../runtime/facts/index.js";
import { createValidator } from "../../runtime/validate/index.js";
import { readJson } from "../signing/corpus.js";
import { corpus } from "../support/corpus.js";
import { wholeReleaseIn } from "../support/whole-release.js";
import type { Folder, VectorGroup } from "./types.js";

interface RecoveryCase {
  readonly id: string;
  readonly negotiated_protocol_version: string;
  readonly error: { readonly code: string };
  readonly retry_state: { readonly retries_attempted: number; readonly max_retries: number };
  readonly expected: object;
}

/** The decision in the vectors' words. */
function told({ recovery, action, afterSeconds }: RetryDecision, retried: number): object {
  const again = action === "retry";
  const delay =
    afterSeconds === undefined
      ? { kind: "bounded_exponential_backoff" }
      : { kind: "retry_after", minimum_delay_seconds: afterSeconds };
  return {
    effective_recovery: recovery,
    action,
    automatic_retry: again,
    schedule: again ? delay : null,
    retry_budget: { consumed: again, next_retries_attempted: retried + (again ? 1 : 0) },
  };
}

export async function errorRecovery(folder: Folder): Promise<VectorGroup[]> {
  const file = path.join(folder.at, "error-recovery/vectors.json");
  const before = path.join(corpus, "releases/3.1.19");
  if (!existsSync(file) || !existsSync(before)) return [];
  const { vectors } = readJson(file) as { vectors: readonly RecoveryCase[] };
  const validator = await createValidator(folder.release);
  const { release: older } = await wholeReleaseIn(before);
  const spoken = (version: string): Release =>
    folder.release.version.startsWith(`${version}.`) ? folder.release : older;
  const cases = vectors.map((one) => ({
    name: one.id,
    async run() {
      const { retries_attempted: retried, max_retries: maxRetries } = one.retry_state;
      const { errors, defaultUnknownRecovery } = folder.release;
      const decision = retryDecision(one.error, { errors, defaultUnknownRecovery, retried, maxRetries });
      const valid = validator.schema("core/error.json", one.error).ok;
      const fault = producerFault({ errors, facts: spoken(one.negotiated_protocol_version).facts }, one.error);
      const result = {
        schema_valid: valid,
        producer_conformant: valid && fault === undefined,
        code_known: Object.hasOwn(errors, one.error.code),
        ...told(decision, retried),
      };
      return JSON.stringify(result) === JSON.stringify(one.expected) ? undefined : `came to ${JSON.stringify(result)}`;
    },
  }));
  return [{ release: folder.label, suite: "error-recovery", group: "vectors", cases }];
}
