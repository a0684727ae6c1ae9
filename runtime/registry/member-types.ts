/** Members of the registry, and what they say of their agents. */
import type { components } from "../../generated/registry/openapi.js";

type AgentType = components["schemas"]["AgentType"];

/** A member's word on who may see an agent (docs/protocol/registry.md#operator-lookup). */
export type Visibility = "public" | "members_only" | "private";

/** A member's agent. */
export interface MemberAgent {
  readonly url: string;
  readonly name: string | null;
  readonly type: AgentType;
  readonly visibility: Visibility;
  readonly deliveryTypes: readonly string[];
  readonly formatKinds: readonly string[];
  /** Trusted match is supported. */
  readonly hasTmp: boolean;
}

/** A member of the registry, as the registry's data knows it; keys and users are another part's. */
export interface Member {
  /** Names it; lower case letters, digits, hyphens. */
  readonly slug: string;
  readonly organization: string | null;
  readonly displayName: string;
  readonly tier: string | null;
  readonly founding: boolean;
  /** Tier and founding are shown to everyone. */
  readonly isPublic: boolean;
  readonly domains: readonly { readonly domain: string; readonly verified: boolean }[];
  readonly agents: readonly MemberAgent[];
}

/** What an operator lookup needs to know of its caller (docs/protocol/registry.md#operator-lookup). */
export interface OperatorViewer {
  /** The caller's tier includes API access. */
  readonly seesMembersOnly: boolean;
  readonly owns: (member: Member) => boolean;
  /** Its tier counts only while the organization's subscription is live. Default: it is. */
  readonly tierLive?: (member: Member) => boolean | Promise<boolean>;
}
/** Which agents of an operator are asked for; it narrows and never widens. */
export type OperatorScope = "public" | "member" | "private" | "all";
