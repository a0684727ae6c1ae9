/** What an agent declares of its identity, asked of the agent itself: for whoever has no client of its own. */

import { type TransportName, wireNames } from "../../contract/index.js";
import { isJsonObject } from "../../contract/json-object.js";
import type { Fetcher } from "../../net/index.js";
import { askA2a } from "./ask-a2a.js";
import { askMcp } from "./ask-mcp.js";
import { NotThisWay } from "./asked.js";
import type { DeclaredIdentity } from "./brand.js";
import { defaultFetch, type JsonRecord } from "./fetch-json.js";
import { checkedUrl } from "./options.js";

/** Which agent's capabilities to read, for where its keys are. */
export interface CapabilitiesOptions {
  /** Where the agent is called. */
  readonly agentUrl: string;
  /** How it is called there; by default over MCP, and over A2A where it answers nothing that MCP has. */
  readonly transport?: TransportName;
  /** Default: a guarded fetch with production rules. */
  readonly fetch?: Fetcher;
  /** The protocol's word; default `proto`. */
  readonly word?: string;
}

/** The part of capabilities that key discovery reads; a value of the wrong type is kept, so that it is refused and not passed over. */
export function declaredIdentity(capabilities: JsonRecord): DeclaredIdentity {
  const { identity } = capabilities;
  if (!isJsonObject(identity)) return {};
  const { brand_json_url: url, key_origins: origins } = identity;
  return {
    ...(url !== undefined && url !== null && { brandUrl: String(url) }),
    ...(isJsonObject(origins) && { keyOrigins: origins }),
  };
}

/**
 * For `brandKeys({declared})`: asks the agent, guarded and capped; whoever calls it keeps the answer.
 * The promise rejects where the agent cannot be asked, or answers with anything but capabilities.
 * @throws AdbindError `discovery_option_invalid`
 */
export function askIdentity(options: CapabilitiesOptions): () => Promise<DeclaredIdentity> {
  const url = checkedUrl(options.agentUrl, "agentUrl");
  const { fetch = defaultFetch(), word = "proto", transport } = options;
  const asked = { fetch, url, tool: wireNames(word).capabilitiesTool };
  if (transport === "a2a") return async () => declaredIdentity(await askA2a(asked));
  return async () => {
    try {
      return declaredIdentity(await askMcp(asked));
    } catch (overMcp) {
      if (transport === "mcp" || !(overMcp instanceof NotThisWay)) throw overMcp;
      try {
        return declaredIdentity(await askA2a(asked));
      } catch (overA2a) {
        if (!(overA2a instanceof Error)) throw overA2a;
        throw new Error(`over MCP ${overMcp.message}; over A2A ${overA2a.message}`, { cause: overA2a });
      }
    }
  };
}
