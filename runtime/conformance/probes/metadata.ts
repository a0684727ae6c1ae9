/** Probes over plain HTTP: OAuth's metadata, and the keys that an agent publishes. */
import { isJsonObject, type JsonObject } from "../../contract/index.js";
import { withinLevels } from "../agent/answer-limits.js";
import { faultWords } from "../agent/failed-answer.js";
import { headersOf, PROBE_MS, readStart } from "../agent/http.js";
import type { AgentAnswer } from "../agent/types.js";
import { comparableUrl } from "../checks/urls.js";
import type { OwnTask } from "../own-task.js";
import { fieldAt } from "../paths.js";
import type { StoryState } from "../state.js";

/** One GET, no redirect followed. */
export async function probe(url: string, operation: string, story: StoryState): Promise<AgentAnswer> {
  const { fetch, now } = story.run;
  const request = { transport: "http" as const, operation, url, payload: null };
  const sentAt = now();
  try {
    const response = await fetch(url, { redirect: "manual", signal: AbortSignal.timeout(PROBE_MS) });
    const text = await readStart(response);
    let payload: JsonObject | null = null;
    try {
      const value: unknown = JSON.parse(text);
      if (isJsonObject(value)) payload = value;
    } catch {
      // What is no JSON has no fields to look at.
    }
    const { status } = response;
    const headers = headersOf(response);
    const tookMs = now() - sentAt;
    const failed = status >= 400;
    return withinLevels({ request, payload, origin: "body", failed, status, headers, body: text, sentAt, tookMs });
  } catch (error) {
    const gone = { error: { message: faultWords(error) }, headers: {}, body: null, sentAt, tookMs: now() - sentAt };
    return { request, payload: null, origin: "none", failed: true, ...gone };
  }
}

export const protectedResource: OwnTask = async (step, _phase, story) => {
  const { url } = story.run.primary;
  const { origin, pathname } = new URL(url);
  const path = pathname === "/" ? "" : pathname;
  const answer = await probe(`${origin}/.well-known/oauth-protected-resource${path}`, step.task, story);
  if (answer.status !== 404) return { answer };
  const detail = `the agent serves no OAuth metadata: GET ${answer.request.url} is answered with 404`;
  return { answer, skip: { reason: "not_applicable", detail }, endsPhase: true };
};

export const authServerMetadata: OwnTask = async (step, _phase, story) => {
  const resource = [...story.answers.values()].findLast(({ payload }) => Array.isArray(payload?.authorization_servers));
  const issuer = fieldAt(resource?.payload, "authorization_servers[0]");
  if (typeof issuer !== "string" || !URL.canParse(issuer))
    return { problem: "the metadata of the protected resource names no authorization server" };
  const { origin, pathname } = new URL(issuer);
  const path = pathname === "/" ? "" : pathname.replace(/\/$/, "");
  return { answer: await probe(`${origin}/.well-known/oauth-authorization-server${path}`, step.task, story) };
};

/** Where the agent says that its keys are. */
async function jwksUriOf(story: StoryState): Promise<{ uri: string } | { answer?: AgentAnswer; problem: string }> {
  const { primary } = story.run;
  const named = fieldAt(primary.capabilities, "identity.brand_json_url");
  // Where capabilities have no such member, the agent's own host has the file.
  const atHost = story.run.release.facts.discovery.webhooks.value === "host";
  const brandUrl = named ?? (atHost ? `${new URL(primary.url).origin}/.well-known/brand.json` : undefined);
  if (typeof brandUrl !== "string") return { problem: "capabilities name no identity.brand_json_url" };
  const brand = await probe(brandUrl, "brand.json", story);
  if (brand.payload === null)
    return {
      answer: brand,
      problem: `${brandUrl} gives no brand file: ${brand.error?.message ?? `HTTP ${brand.status}`}`,
    };
  const agents = [brand.payload.agents, fieldAt(brand.payload, "house.agents")].flat().filter(isJsonObject);
  const own = agents.find(({ url }) => typeof url === "string" && comparableUrl(url) === comparableUrl(primary.url));
  if (own === undefined) return { answer: brand, problem: `${brandUrl} lists no agent at ${primary.url}` };
  if (typeof own.jwks_uri === "string") return { uri: own.jwks_uri };
  return { uri: `${new URL(primary.url).origin}/.well-known/jwks.json` };
}

/** The agent's keys by its capabilities and brand file. */
export async function publishedKeysOf(
  story: StoryState,
): Promise<{ keys: JsonObject[]; answer: AgentAnswer } | { answer?: AgentAnswer; problem: string }> {
  const at = await jwksUriOf(story);
  if (!("uri" in at)) return at;
  const answer = await probe(at.uri, "jwks", story);
  const keys = answer.payload?.keys;
  if (!Array.isArray(keys)) return { answer, problem: `${at.uri} gives no set of keys` };
  return { keys: keys.filter(isJsonObject), answer };
}

export const fetchBrandJwks: OwnTask = async (_step, _phase, story) => {
  const found = await publishedKeysOf(story);
  if ("keys" in found) return { answer: found.answer };
  return { ...(found.answer !== undefined && { answer: found.answer }), problem: found.problem };
};

export const assertJwksPurpose: OwnTask = async (_step, _phase, story) => {
  const found = await publishedKeysOf(story);
  if (!("keys" in found)) return { ...(found.answer && { answer: found.answer }), problem: found.problem };
  const { word, facts } = story.run.release;
  const use = `${word}_use`;
  const allowed = facts.signing.webhookKeyUses.value;
  const good = found.keys.some(
    (key) => key.revoked !== true && [key[use]].flat().some((one) => allowed.includes(String(one))),
  );
  if (good) return { answer: found.answer };
  return { answer: found.answer, problem: `no key has ${use} ${allowed.join(" or ")}` };
};
