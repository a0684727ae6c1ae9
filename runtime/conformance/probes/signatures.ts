/** Whether webhooks are signed with the keys that their agent publishes. */
import { type Jwk, memoryReplayStore, staticKeys, verifyWebhook } from "../../signing/index.js";
import type { CaughtWebhook } from "../caught.js";
import type { StoryState } from "../state.js";
import { probe, publishedKeysOf } from "./metadata.js";

export type SignatureVerdict = { readonly ok: true } | { readonly ok: false; readonly why: string };

/** Keys by the brand file that capabilities name; else those at the agent's own host. */
async function keysOf(story: StoryState): Promise<Jwk[] | string> {
  const named = await publishedKeysOf(story);
  if ("keys" in named) return named.keys as Jwk[];
  const own = await probe(`${new URL(story.run.primary.url).origin}/.well-known/jwks.json`, "jwks", story);
  const keys = own.payload?.keys;
  return Array.isArray(keys) ? (keys as Jwk[]) : named.problem;
}

/** Each delivery's signature, with a nonce that is new within the run. */
export async function verifyWebhooks(found: readonly CaughtWebhook[], story: StoryState): Promise<SignatureVerdict> {
  const keys = await keysOf(story);
  if (typeof keys === "string") return { ok: false, why: keys };
  const { release, primary, now } = story.run;
  const source = staticKeys({ keys }, { sender: primary.url });
  const replay = memoryReplayStore();
  for (const { method, url, headers, body } of found) {
    const verdict = await verifyWebhook(
      { method, url, headers, body },
      {
        keys: source,
        replay,
        word: release.word,
        now: () => Math.floor(now() / 1000),
        keyUses: release.facts.signing.webhookKeyUses.value,
      },
    );
    if (!verdict.ok) return { ok: false, why: `${verdict.code}${verdict.detail ? `: ${verdict.detail}` : ""}` };
  }
  return { ok: true };
}
