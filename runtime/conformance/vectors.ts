/** Steps that a suite leaves to the runner: one for each vector of request signing, signed anew for the agent's own URL. */
import { createHash } from "node:crypto";
import { isJsonObject, type JsonObject } from "../contract/index.js";
import { headersOf, readStart } from "./agent/http.js";
import { mcpHeaders, toolsCall } from "./agent/mcp.js";
import { suiteFile } from "./load.js";
import { fieldAt } from "./paths.js";
import type { Skip, StepResult } from "./result.js";
import type { StoryState } from "./state.js";
import { type SigningKey, type SigningVector, signedHeaders } from "./vector-signature.js";

const FOLDER = "test-vectors/request-signing/";

/** Requests by which a cap of a hundred in a minute is reached. */
const RATE_CAP = 101;

interface NamedVector {
  readonly id: string;
  readonly phase: string;
  readonly vector: SigningVector;
}

/** Good signatures first; last what uses a key up, since nothing is taken after it. */
const rankOf = ({ phase, vector }: NamedVector): number =>
  phase === "positive_vectors" ? 0 : vector.requires_contract === "rate_abuse" ? 2 : 1;

/** Vectors of a suite; those of another profile than the release's are left out. */
function vectorsOf(story: StoryState): NamedVector[] {
  const newest = story.run.release.facts.signing.profile.value === "3.2";
  return [...story.run.suite.files.keys()]
    .filter((name) => name.startsWith(FOLDER) && /(positive|negative)\/[^/]+\.json$/.test(name))
    .filter((name) => newest || !name.includes("/profile-"))
    .filter((name) => !(newest && /request-signing\/positive\//.test(name)))
    .sort()
    .flatMap((name): NamedVector[] => {
      const vector = suiteFile(story.run.suite, name) as SigningVector | undefined;
      const kind = name.includes("/positive/") ? "positive_vectors" : "negative_vectors";
      const id = name
        .slice(FOLDER.length)
        .replace(/\.json$/, "")
        .replaceAll("/", "-");
      return vector === undefined ? [] : [{ id, phase: kind, vector }];
    })
    .sort((left, right) => rankOf(left) - rankOf(right));
}

/** Why a vector says nothing of this agent; undefined where it does. */
function outOfScope({ vector, phase }: NamedVector, capability: JsonObject, story: StoryState): Skip | undefined {
  const agentUrl = story.run.primary.url;
  const no = (detail: string): Skip => ({ reason: "not_applicable", detail });
  const { covers_content_digest: wanted, protocol_methods_required_for: methods } = vector.verifier_capability ?? {};
  const declared = capability.covers_content_digest ?? "either";
  const covered = /content-digest/.test(inputOf(vector));
  const needed = wanted === "forbidden" || (wanted === "required" && !covered) ? wanted : declared;
  if (needed !== declared)
    return no(
      `request_signing.covers_content_digest would have to be ${needed}: the agent declares ${String(declared)}`,
    );
  if (declared === "forbidden" && covered && wanted !== "forbidden") return no("the agent forbids digests");
  if (methods !== undefined && !Array.isArray(capability.protocol_methods_required_for))
    return no("request_signing.protocol_methods_required_for would have to be declared");
  const required = Array.isArray(capability.required_for) ? capability.required_for : [];
  const unsigned = vector.expected_outcome?.error_code === "request_signature_required";
  if (unsigned && methods === undefined && required.length === 0)
    return no("request_signing.required_for would have to name an operation");
  const kid = /keyid="([^"]*)"/.exec(inputOf(vector))?.[1];
  const unknown = vector.expected_outcome?.error_code === "request_signature_key_unknown";
  if (kid !== undefined && !unknown && !keysOf(story).some((key) => key.kid === kid))
    return no(`the vector brings a key of its own, ${kid}: an agent under test trusts those of keys.json`);
  // A positive vector of a URL's spelling is about that URL; a negative one is refused wherever it is sent.
  const plain = phase === "positive_vectors" ? /^https:\/\/[a-z.]+\/\w+\/\w+$/ : /^https:\/\/[a-z.]+[a-z]\/[\w/]+$/;
  if (plain.test(vector.request.url)) return undefined;
  return no(`the vector is about a URL that ${agentUrl} cannot take the place of`);
}

const inputOf = (vector: SigningVector): string => vector.request.headers["Signature-Input"] ?? "";

function keysOf(story: StoryState): SigningKey[] {
  const keys = suiteFile(story.run.suite, `${FOLDER}keys.json`)?.keys;
  return Array.isArray(keys) ? (keys.filter(isJsonObject) as unknown as SigningKey[]) : [];
}

/** What the agent is sent: the vector's operation, or the first that the agent wants signed. */
function bodyOf({ vector }: NamedVector, capability: JsonObject, uuid: () => string): string {
  const methods = vector.verifier_capability?.protocol_methods_required_for;
  const [method] = Array.isArray(methods) ? methods : [];
  if (typeof method === "string") return JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { id: uuid() } });
  const named = new URL(vector.request.url).pathname.split("/").at(-1)!;
  const required = Array.isArray(capability.required_for) ? capability.required_for.map(String) : [];
  const operation = required.includes(named) || required.length === 0 ? named : required[0]!;
  const args: unknown = JSON.parse(vector.request.body || "{}");
  return toolsCall(operation, isJsonObject(args) ? { ...args, idempotency_key: uuid() } : {});
}

interface Heard {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: string;
}

async function post(story: StoryState, headers: Record<string, string>, body: string): Promise<Heard> {
  const { fetch, primary, authorization, timeoutMs } = story.run;
  const signal = AbortSignal.timeout(timeoutMs);
  const all = { ...mcpHeaders, ...(authorization !== undefined && { authorization }), ...headers };
  const response = await fetch(primary.url, { method: "POST", headers: all, body, redirect: "manual", signal });
  return { status: response.status, headers: headersOf(response), body: await readStart(response) };
}

/** Sends a vector, as often as it takes to come to what it is about. */
async function play(named: NamedVector, story: StoryState, capability: JsonObject): Promise<Heard> {
  const { vector } = named;
  const { now, uuid, primary, release } = story.run;
  const body = bodyOf(named, capability, uuid);
  const sign = (): Record<string, string> =>
    signedHeaders(vector, {
      url: primary.url,
      body,
      now: Math.floor(now() / 1000),
      keys: keysOf(story),
      standard: release.facts.signing.profile.value === "3.2",
    });
  const headers = sign();
  const contract = vector.requires_contract;
  let heard = await post(story, headers, body);
  if (contract === "replay_window") return post(story, headers, body);
  for (let count = 1; contract === "rate_abuse" && count < RATE_CAP && heard.status < 400; count++)
    heard = await post(story, sign(), body);
  return heard;
}

/** The code that a refusal names in its challenge. */
const codeOf = ({ headers }: Heard): string | undefined =>
  /error="([^"]+)"/.exec(headers["www-authenticate"] ?? "")?.[1];

function verdictOf({ vector, phase }: NamedVector, heard: Heard): string | undefined {
  if (phase === "positive_vectors")
    return heard.status >= 200 && heard.status < 300
      ? undefined
      : `a valid signature is refused: HTTP ${heard.status} ${codeOf(heard) ?? ""}`.trim();
  const wanted = vector.expected_outcome?.error_code;
  const code = codeOf(heard);
  if (heard.status === 401 && code === wanted) return undefined;
  return `expected HTTP 401 with Signature error="${wanted}", got HTTP ${heard.status} with ${code === undefined ? "no code" : `error="${code}"`}`;
}

/** Runs every vector; none where the storyboard has no phase without steps, or the agent verifies no signatures. */
export async function vectorSteps(story: StoryState): Promise<StepResult[]> {
  const open = story.storyboard.phases.some(({ steps }) => steps.length === 0);
  const capability = fieldAt(story.run.primary.capabilities, "request_signing");
  if (!open || !isJsonObject(capability) || capability.supported !== true) return [];
  const results: StepResult[] = [];
  for (const named of vectorsOf(story)) {
    const { id, phase, vector } = named;
    const known = {
      storyboard: story.storyboard.id,
      phase,
      step: id,
      title: vector.name,
      task: "request_signing_vector",
      checks: [],
      required: `${vector.name}: ${vector.expected_outcome?.success === true ? "accepted" : `refused with ${vector.expected_outcome?.error_code}`}`,
      hash: createHash("sha256").update(JSON.stringify(vector)).digest("hex").slice(0, 12),
      tookMs: 0,
    };
    const skip = outOfScope(named, capability, story);
    if (skip !== undefined) {
      results.push({ ...known, status: "skipped", skip });
      continue;
    }
    const sentAt = story.run.now();
    try {
      const heard = await play(named, story, capability);
      const problem = verdictOf(named, heard);
      const { status, headers, body } = heard;
      const response = { status, headers, payload: body, origin: "body" };
      const tookMs = story.run.now() - sentAt;
      results.push({
        ...known,
        status: problem === undefined ? "passed" : "failed",
        ...(problem !== undefined && { problem }),
        response,
        tookMs,
      });
    } catch (error) {
      const problem = `no answer: ${error instanceof Error ? error.message : String(error)}`;
      results.push({ ...known, status: "failed", problem });
    }
  }
  return results;
}
