/** Why an agent refuses a caller, asked step by step: without credentials, what it wants, who issues it, and with what there is. */
import { type BuyerOptions, createBuyer } from "../../runtime/buyer/index.js";
import { discoverIssuer, metadataIn } from "../../runtime/buyer/oauth/discovery.js";
import {
  type Failure,
  isJsonObject,
  type JsonObject,
  type ProtocolError,
  type Release,
} from "../../runtime/contract/index.js";
import { member } from "../../runtime/extract/json-object.js";
import { peerProfile } from "../../runtime/facts/index.js";
import { createGuardedFetch } from "../../runtime/net/index.js";
import type { ConnectedAgent } from "./connect.js";

export interface Diagnosed {
  readonly check: string;
  readonly outcome: "ok" | "refused" | "unknown";
  readonly detail: string;
}

/** Codes by which releases refuse a caller. */
const refusals = /^(AUTH_|UNAUTHORIZED|FORBIDDEN|PERMISSION_DENIED)/;

type CallResult = Awaited<ReturnType<ConnectedAgent["buyer"]["call"]>>;

const errorOf = ({ answer }: Pick<CallResult, "answer">): ProtocolError | undefined =>
  answer.status === "failed" || answer.status === "rejected" ? (answer.data as Failure).errors[0] : undefined;

const told = ({ code, message }: ProtocolError): string => `${code}: ${message}`;

/** A tool that only reads what is the caller's own, so that it needs credentials and does no harm. */
function readingTool(releases: readonly Release[]): string {
  const own = ["list_tasks", "list_accounts", "get_media_buys"];
  return own.find((name) => releases.some(({ tools }) => Object.hasOwn(tools, name))) ?? "get_products";
}

/** What a protected tool says to a caller. */
async function asked(options: BuyerOptions, tool: string): Promise<ProtocolError | undefined> {
  const buyer = createBuyer(options);
  try {
    const negotiation = await buyer.negotiate();
    if (!negotiation.ok) return errorOf(negotiation);
    return errorOf(await buyer.call(tool, {}));
  } finally {
    await buyer.close();
  }
}

const isRefusal = (error: ProtocolError | undefined): boolean => error !== undefined && refusals.test(error.code);

const challengeOf = (error: ProtocolError | undefined): string | undefined => {
  const challenge = member(error?.details, "challenge");
  return typeof challenge === "string" ? challenge : undefined;
};

function verdict(check: string, error: ProtocolError | undefined): Diagnosed {
  if (error === undefined) return { check, outcome: "ok", detail: "the call was answered" };
  const code = member(error.details, "signature_error");
  const why = typeof code === "string" ? `${told(error)}; its signature: ${code}` : told(error);
  if (isRefusal(error)) return { check, outcome: "refused", detail: why };
  // Anything else is said to somebody who was let in, or by nobody at all.
  const reached = error.source !== "buyer" || error.code === "UNSUPPORTED_FEATURE";
  return { check, outcome: reached ? "ok" : "unknown", detail: why };
}

function signingOf(capabilities: JsonObject | null, releases: readonly Release[]): Diagnosed {
  const signing = capabilities?.request_signing;
  if (!isJsonObject(signing) || signing.supported !== true)
    return { check: "signatures", outcome: "ok", detail: "the agent verifies none" };
  const required = Array.isArray(signing.required_for) ? signing.required_for.join(", ") : "";
  const profile = `by the profile of ${peerProfile(releases, capabilities)}`;
  const detail = required === "" ? `verified where they come, ${profile}` : `wanted for ${required}, ${profile}`;
  return { check: "signatures", outcome: "ok", detail };
}

/** Who issues tokens, as far as the agent says. */
async function issuerOf({ url, options }: ConnectedAgent, challenge: string | undefined): Promise<Diagnosed> {
  const allowLocal = options.allowLocal === true;
  const fetch = createGuardedFetch({ allowHttp: allowLocal, allowLoopback: allowLocal });
  try {
    const found = await discoverIssuer({ fetch, allowLocal }, { agentUrl: url, challenge });
    if (!found.ok) return { check: "issuer", outcome: "unknown", detail: found.why };
    const { issuer, grants, challengeMethods } = found.issuer;
    const ways = [
      grants.length === 0 || grants.includes("client_credentials") ? "client credentials" : "",
      challengeMethods.includes("S256") ? "authorization code with PKCE" : "",
    ].filter((one) => one !== "");
    return {
      check: "issuer",
      outcome: "ok",
      detail: `${issuer} issues tokens: ${ways.join(", ") || "by no known grant"}`,
    };
  } finally {
    await fetch.close();
  }
}

/** Each step and what it showed, and in one sentence what to do. */
export async function diagnose(
  agent: ConnectedAgent,
): Promise<{ readonly steps: Diagnosed[]; readonly advice: string }> {
  const { options, releases, buyer } = agent;
  const tool = readingTool(releases);
  const { auth, ...anonymous } = options;
  const bare = await asked(anonymous, tool);
  const steps = [verdict(`${tool} without credentials`, bare)];
  const challenge = challengeOf(bare);
  if (challenge !== undefined) steps.push({ check: "challenge", outcome: "ok", detail: challenge });
  if (isRefusal(bare)) steps.push(await issuerOf(agent, challenge));
  const own =
    auth === undefined ? undefined : verdict(`${tool} with the credentials given`, await asked(options, tool));
  if (own !== undefined) steps.push(own);
  const negotiation = await buyer.negotiate();
  if (negotiation.ok) steps.push(signingOf(negotiation.negotiated.capabilities, releases));
  return { steps, advice: adviceOn({ bare, own, challenge, issuer: steps.find(({ check }) => check === "issuer") }) };
}

function adviceOn({
  bare,
  own,
  challenge,
  issuer,
}: {
  bare: ProtocolError | undefined;
  own: Diagnosed | undefined;
  challenge: string | undefined;
  issuer: Diagnosed | undefined;
}): string {
  if (own?.outcome === "ok") return "the credentials are good here";
  if (own?.outcome === "refused") {
    return issuer?.outcome === "ok"
      ? `the credentials are refused: get a token from the issuer for this very agent (${issuer.detail})`
      : "the credentials are refused: see what the agent's operator issues, and whether they have ended";
  }
  if (!isRefusal(bare))
    return bare === undefined ? "no credentials are wanted" : "see the first step: nobody was refused yet";
  if (issuer?.outcome === "ok")
    return "credentials are wanted: give auth: { oauth: { clientId, ... } }, or a token as --auth";
  const scheme = challenge?.split(/\s/, 1)[0] ?? "some";
  const missing = metadataIn(challenge) === undefined ? ", and the agent does not say who issues them" : "";
  return `${scheme} credentials are wanted${missing}: ask its operator`;
}
