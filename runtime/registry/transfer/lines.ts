/** Lines of an export: one JSON object each, told apart by `kind`. Times are ISO 8601 in UTC. */
import type { AuthorizationType, DelegationType, JsonValue, Visibility } from "../types.js";

export interface PropertyLine {
  property_id?: string;
  property_type: string;
  name: string;
  identifiers: { type: string; value: string }[];
  tags?: string[];
  supported_channels?: string[];
  delegation_type?: DelegationType;
}

export interface AgentLine {
  url: string;
  authorized_for?: string;
  authorization_type?: AuthorizationType;
  property_ids?: string[];
  property_tags?: string[];
  properties?: PropertyLine[];
  publisher_properties?: { property_ids?: string[]; property_types?: string[]; tags?: string[] }[];
  countries?: string[];
  delegation_type?: DelegationType;
  exclusive?: boolean;
  effective_from?: string;
  effective_until?: string;
  placement_ids?: string[];
  placement_tags?: string[];
  signal_ids?: string[];
  signal_tags?: string[];
  signing_keys?: object[];
}

export interface FileLine {
  properties?: PropertyLine[];
  authorized_agents?: AgentLine[];
  genres?: string[];
  genre_taxonomy?: string;
  /** What the file says of other domains. */
  others?: { publisher_domain: string; agent: AgentLine }[];
}

export interface PublisherLine {
  kind: "publisher";
  domain: string;
  crawl?: {
    outcome?: "valid" | "invalid" | "absent" | "unreachable";
    valid?: boolean;
    method?: "direct" | "authoritative_location" | "ads_txt_managerdomain";
    manager_domain?: string;
    crawled_at?: string;
    validated_at?: string;
    http_status?: number;
    bytes?: number;
    resolved_url?: string;
  };
  adagents_json?: FileLine;
  aao_hosted?: FileLine;
  discovered?: { properties: PropertyLine[] };
  brand_json?: {
    name?: string;
    properties: PropertyLine[];
    agents?: { url: string; type: string; id: string; description?: string }[];
  };
}

export interface MemberLine {
  kind: "member";
  slug: string;
  organization?: string;
  display_name: string;
  tier?: string;
  founding?: boolean;
  is_public?: boolean;
  domains?: { domain: string; verified: boolean }[];
  agents?: {
    url: string;
    name?: string;
    type?: string;
    visibility?: Visibility;
    delivery_types?: string[];
    format_kinds?: string[];
    has_tmp?: boolean;
  }[];
}

export interface HostedLine {
  kind: "hosted";
  domain: string;
  file: JsonValue;
}

export interface ClaimsLine {
  kind: "claims";
  agent_url: string;
  claims: { publisher_domain: string; authorized_for?: string }[];
}

/** One line of an export. */
export type TransferLine = PublisherLine | MemberLine | HostedLine | ClaimsLine;
