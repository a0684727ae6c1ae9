/**
 * What may be wrong with a publisher's file: one row a rule, with what to do about it. `left` is left out and says nothing;
 * `noted` stays as it is. Rules are of the published schema of agent-authorization files and of
 * docs/protocol/files.md#adagentsjson.
 */

/** Something of a publisher's file that is wrong. */
export interface FileProblem {
  /** Names what is wrong; stable. */
  readonly rule: string;
  /** JSON pointer into the file; empty: the whole of it. */
  readonly pointer: string;
  readonly message: string;
  /** `left`: it is left out and says nothing; `noted`: it stays as it is. */
  readonly effect: "left" | "noted";
  /** What the publisher can do. */
  readonly remedy: string;
}

interface Rule {
  readonly effect: "left" | "noted";
  readonly remedy: string;
}

const left = (remedy: string): Rule => ({ effect: "left", remedy });
const noted = (remedy: string): Rule => ({ effect: "noted", remedy });

const problemRules = {
  agents_missing: left("give authorized_agents as a list"),
  nothing_declared: left(
    "name an agent in authorized_agents, or publish properties, placements, formats, collections or signals",
  ),
  no_usable_agent: left("correct the entries that are named here"),
  list_expected: left("give a list"),
  list_too_long: left(
    "split the file among the publishers it speaks for, or ask who runs the registry for a larger bound",
  ),
  selects_too_much: left(
    "authorize the agent by property_ids, or for all of the publisher (publisher_properties with selection_type all): entries that select by tags are compared with every property",
  ),
  agent_twice: noted("say all of one agent in one entry, or leave it: the entries add up"),
  agent_shape: left("give an object with url, authorized_for, authorization_type and the selector of that type"),
  agent_url: left("give the agent's own address, an https URL"),
  authorized_for: left("say in 1 to 500 characters what the agent may sell"),
  authorization_type: left(
    "set authorization_type to property_ids, property_tags, inline_properties, publisher_properties, signal_ids or signal_tags",
  ),
  selector_empty: left("give the list that authorization_type names, with at least one value"),
  countries: left("give two-letter country codes (ISO 3166-1 alpha-2)"),
  placements: left("give placement_ids and placement_tags as lists of texts, or leave them out"),
  collections: left("give collections as a list of objects, or leave it out"),
  signing_keys: left("give keys with kid and kty, or leave signing_keys out: then any key of the agent counts"),
  effective_dates: left("give ISO 8601 dates, effective_from not after effective_until"),
  publisher_selector: left(
    "give publisher_domain or publisher_domains, and selection_type all, by_id (with property_ids) or by_tag (with property_tags)",
  ),
  property_id_unknown: noted("declare it in properties, or take it out"),
  property_shape: left("give an object with property_type, name and identifiers"),
  property_type: left("set property_type, e.g. website"),
  property_name: left("give a name of 1 to 500 characters"),
  property_domain: left("set publisher_domain to a domain, or leave it out: the file's own is meant then"),
  property_foreign: left("declare it in the file of that publisher"),
  identifiers_missing: noted("give at least one identifier: nobody can look the property up without"),
  identifier_shape: left("give type and value, both texts"),
  identifier_foreign: left(
    "declare it in the file of that domain: a file speaks for its own domain and what is under it",
  ),
  signal_shape: left("give an object with id, name and value_type"),
  signal_id: left("set id to letters, digits, hyphens and underscores"),
  signal_id_twice: noted("give each signal an id of its own"),
  signal_name: left("give a name of 1 to 255 characters"),
  signal_value_type: left("set value_type to binary, categorical or numeric"),
  signal_tags: left("give tags of lower-case letters, digits, hyphens and underscores"),
  signal_values: left("give allowed_values as a list of at least one text"),
  signal_category: left("give category as a text"),
  signal_values_missing: noted("say with allowed_values which values there are"),
  signal_tag_undefined: noted("describe it in signal_tags"),
  signal_range: left("give range with numbers min and max, min not above max"),
  signal_id_unknown: noted("declare it in signals, or take it out"),
  signal_pattern: left("use letters, digits, hyphens and underscores; in tags lower case only"),
  domain_revoked: left("take the domain out of revoked_publisher_domains if the file is to speak for it"),
  manager_silent: left("name the publisher in the manager's file, or correct managerdomain in ads.txt"),
  held_back: left("wait, or ask who runs the registry to accept it"),
  not_fetched: left("serve the file over https with status 200, as JSON"),
  robots: left("allow adbind-registry to fetch /.well-known/ in robots.txt"),
  ended: left("serve a valid file again"),
  opted_out: left("ask who runs the registry to take the domain up again"),
  more: noted("correct those that are listed first"),
} as const satisfies Record<string, Rule>;

export type ProblemRule = keyof typeof problemRules;

/** @param pointer JSON pointer into the file; empty: the whole of it */
export const fileProblem = (rule: ProblemRule, pointer: string, message: string): FileProblem => ({
  rule,
  pointer: pointer.slice(0, 300),
  message,
  effect: problemRules[rule].effect,
  remedy: problemRules[rule].remedy,
});

/** Problems kept of one file; the rest is counted. */
const MAX_PROBLEMS = 100;

export class FileProblems {
  readonly #kept: FileProblem[] = [];
  #more = 0;

  /** @param message what is wrong, in a clause */
  add(rule: ProblemRule, pointer: string, message: string): void {
    if (this.#kept.length < MAX_PROBLEMS) this.#kept.push(fileProblem(rule, pointer, message));
    else this.#more += 1;
  }

  get list(): FileProblem[] {
    return this.#more === 0 ? this.#kept : [...this.#kept, fileProblem("more", "", `and ${this.#more} more`)];
  }
}
