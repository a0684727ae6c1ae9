/** A webhook that holds, and what is asked of one that does not. */
import * as assert from "uvu/assert";
import { type Refusal, type Step, verifyWebhookSync, type WebhookCode } from "../../runtime/signing/index.js";
import { makeKey, optionsFor, type SignedRequest, signed } from "./fixtures.js";

export const key = makeKey();
export const es256 = makeKey("P-256");
export const good = signed(key);
/** Codes that `refuses` saw. */
export const reached = new Set<string>();

/** Verifies what must be refused, with the code and the step; answers the refusal. */
export function refuses(request: SignedRequest, code: WebhookCode, step: Step, more: object = {}, used = key): Refusal {
  const result = verifyWebhookSync(request, optionsFor(used, more));
  assert.ok(!result.ok, `accepted, expected ${code}`);
  assert.is(result.code, code, result.detail);
  assert.is(result.step, step);
  assert.is(result.status, 401);
  assert.is(result.retryable, false);
  reached.add(code);
  return result;
}

export const input = good.headers["Signature-Input"]!;
