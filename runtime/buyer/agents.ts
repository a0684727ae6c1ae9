/** Agents by name, from a config file's JSON and from the environment: addresses in one place, secrets in the other. */
import { isJsonObject, type JsonObject } from "../contract/index.js";
import type { OAuthOptions } from "./oauth/types.js";
import { badBuyerOption } from "./settings.js";
import type { AgentRef, BuyerAuth, TransportChoice } from "./types.js";
import type { BuyerWebhooks } from "./webhooks.js";

/** An agent as `createBuyer` takes it. */
export interface NamedAgent {
  readonly agent: AgentRef & object;
  readonly auth?: BuyerAuth;
  /** Where its webhooks arrive: a route of a receiver speaks for one sender. */
  readonly webhooks?: BuyerWebhooks;
}

type Environment = Readonly<Record<string, string | undefined>>;

const PREFIX = "ADBIND_AGENT_";
const TOKEN = "_TOKEN";
const transports: readonly unknown[] = ["auto", "mcp", "a2a"];

/** `Acme-TV` and `acme_tv` are one agent. */
export const agentName = (text: string): string => text.toLowerCase().replaceAll("-", "_");

/** A client that speaks for itself; its secret stands in the environment. */
function clientOf(where: string, given: unknown, env: Environment): OAuthOptions {
  const { clientId, clientSecretEnv, scope, issuer, ...more } = isJsonObject(given) ? given : {};
  const [unknown] = Object.keys(more);
  if (unknown !== undefined)
    throw badBuyerOption(`${where}.${unknown}`, "use clientId, clientSecretEnv, scope or issuer");
  if (typeof clientId !== "string" || clientId === "")
    throw badBuyerOption(`${where}.clientId`, "give the client's id");
  const clientSecret = typeof clientSecretEnv === "string" ? env[clientSecretEnv] : undefined;
  if (clientSecret === undefined)
    throw badBuyerOption(`${where}.clientSecretEnv`, "name an environment variable that holds the client's secret");
  if (typeof issuer !== "string")
    throw badBuyerOption(`${where}.issuer`, "name the issuer that gave the client its secret; no other is shown it");
  return { clientId, clientSecret, issuer, ...(typeof scope === "string" && { scope }) };
}

function entryOf(name: string, given: unknown, env: Environment): NamedAgent {
  const where = `agents.${name}`;
  const { url, transport = "auto", token, tokenEnv, oauth, ...more } = isJsonObject(given) ? given : { url: given };
  const [unknown] = Object.keys(more);
  if (unknown !== undefined)
    throw badBuyerOption(`${where}.${unknown}`, "use url, transport, token, tokenEnv or oauth");
  if (typeof url !== "string" || !URL.canParse(url)) throw badBuyerOption(`${where}.url`, "give the agent's URL");
  if (!transports.includes(transport))
    throw badBuyerOption(`${where}.transport`, `give one of ${transports.join(", ")}`);
  const named = typeof tokenEnv === "string" ? env[tokenEnv] : undefined;
  if (tokenEnv !== undefined && named === undefined)
    throw badBuyerOption(`${where}.tokenEnv`, `set the environment variable ${String(tokenEnv)}`);
  const bearer = named ?? env[`${PREFIX}${name.toUpperCase()}${TOKEN}`] ?? token;
  const agent = { url, transport: transport as TransportChoice };
  if (oauth !== undefined) return { agent, auth: { oauth: clientOf(`${where}.oauth`, oauth, env) } };
  return { agent, ...(typeof bearer === "string" && bearer !== "" && { auth: { bearer } }) };
}

/** `ADBIND_AGENT_ACME=https://...` names an agent `acme`; `ADBIND_AGENT_ACME_TOKEN` is what it is called with. */
const fromEnvironment = (env: Environment): JsonObject =>
  Object.fromEntries(
    Object.entries(env)
      .filter(([key, value]) => key.startsWith(PREFIX) && !key.endsWith(TOKEN) && value !== undefined && value !== "")
      .map(([key, value]) => [agentName(key.slice(PREFIX.length)), value]),
  );

/**
 * Agents by name.
 * @param config what a config file holds: `{"agents": {"acme": {"url", "transport"?, "token"?, "tokenEnv"? or "oauth"?}}}`, or a URL for the whole entry
 * @param env the process's environment by default; what it names wins over the file
 * @throws AdbindError `buyer_option_invalid`, with the entry that is off
 */
export function agentsFrom(
  config: unknown,
  env: Environment = typeof process === "undefined" ? {} : process.env,
): Readonly<Record<string, NamedAgent>> {
  const held = isJsonObject(config) ? config.agents : undefined;
  if (held !== undefined && !isJsonObject(held)) throw badBuyerOption("agents", "give an object of agents by name");
  const filed = Object.entries(held ?? {}).map(([name, entry]) => [agentName(name), entry] as const);
  const all = { ...Object.fromEntries(filed), ...fromEnvironment(env) };
  return Object.fromEntries(Object.entries(all).map(([name, entry]) => [name, entryOf(name, entry, env)]));
}
