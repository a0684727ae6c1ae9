/** A publisher's file from what a form says. */

export interface BuiltProperty {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  /** Kind of its identifier, and the identifier. */
  readonly identifier: string;
  readonly value: string;
  /** Separated by commas. */
  readonly tags: string;
}

export interface BuiltAgent {
  readonly url: string;
  readonly for: string;
  /** What it may sell: all, or by ids or labels. */
  readonly sells: string;
  /** The ids or labels, separated by commas. */
  readonly values: string;
  /** Separated by commas. */
  readonly countries: string;
  readonly delegation: string;
  readonly from: string;
  readonly until: string;
}

export interface BuiltForm {
  readonly domain: string;
  readonly properties: readonly BuiltProperty[];
  readonly agents: readonly BuiltAgent[];
}

const SCHEMA_URL = "https://adcontextprotocol.org/schemas/v3/adagents.json";

const parts = (text: string): string[] => text.split(",").flatMap((one) => (one.trim() === "" ? [] : [one.trim()]));
const blank = (row: object): boolean => Object.values(row).every((value) => value === "");
/** A day as files write times; the last one counts to its end. */
const day = (text: string, end: boolean): string =>
  /^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T${end ? "23:59:59" : "00:00:00"}Z` : text;

const propertyOf = ({ id, name, type, identifier, value, tags }: BuiltProperty): object => ({
  ...(id !== "" && { property_id: id }),
  property_type: type || "website",
  name,
  identifiers: [{ type: identifier || "domain", value }],
  ...(parts(tags).length > 0 && { tags: parts(tags) }),
});

function selects({ sells, values }: BuiltAgent, domain: string): object {
  switch (sells) {
    case "property_ids":
    case "property_tags":
      return { authorization_type: sells, [sells]: parts(values) };
    default:
      return {
        authorization_type: "publisher_properties",
        publisher_properties: [{ publisher_domain: domain, selection_type: "all" }],
      };
  }
}

const agentOf = (agent: BuiltAgent, domain: string): object => ({
  url: agent.url,
  authorized_for: agent.for,
  ...selects(agent, domain),
  ...(parts(agent.countries).length > 0 && { countries: parts(agent.countries).map((one) => one.toUpperCase()) }),
  ...(agent.delegation !== "" && { delegation_type: agent.delegation }),
  ...(agent.from !== "" && { effective_from: day(agent.from, false) }),
  ...(agent.until !== "" && { effective_until: day(agent.until, true) }),
});

/**
 * @param now unix milliseconds: when the file says it was made
 * @returns undefined where the form says nothing yet
 */
export function builtFile({ domain, properties, agents }: BuiltForm, now: number): object | undefined {
  const named = properties.filter(({ type: _, identifier: __, ...rest }) => !blank(rest));
  const selling = agents.filter(({ sells: _, ...rest }) => !blank(rest));
  if (named.length === 0 && selling.length === 0) return undefined;
  return {
    $schema: SCHEMA_URL,
    properties: named.map(propertyOf),
    authorized_agents: selling.map((agent) => agentOf(agent, domain)),
    last_updated: new Date(now).toISOString(),
  };
}
