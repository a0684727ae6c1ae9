/** The registry client of the official TypeScript SDK, method by method, and its replicas. */
import { createRequire } from "node:module";
import { until } from "../../support/until.js";
import { judgeCall, type MethodCell, type ReportedCall } from "./cells.js";
import { type RegistryWorld, words } from "./world.js";

type Method = (...given: readonly unknown[]) => Promise<unknown>;
type Client = Readonly<Record<string, Method>>;
interface Replica {
  start(): Promise<void>;
  stop(): void;
  isAuthorized(agent: string, domain: string): boolean;
  getStats(): { readonly agents: number; readonly authorizations: number };
}
interface Sdk {
  RegistryClient: new (options: { baseUrl: string; apiKey: string }) => Client;
  RegistrySync: new (options: { client: Client; pollIntervalMs: number }) => Replica;
  PropertyRegistry: new (options: { registryClient: Client; pollInterval: number }) => Replica;
}

const inner = ["constructor", "get", "post", "getHeaders", "parseJson", "buildParams"];

/** What methods are asked with that take something else than a domain. */
const given: Readonly<Record<string, readonly unknown[]>> = {
  findCompany: [words.q],
  lookupBrands: [words.domains],
  listBrands: [],
  saveBrand: [{ domain: words.domain, brand_name: "News" }],
  lookupProperties: [words.domains],
  lookupPropertiesAll: [words.domains],
  domainsExist: [words.domains],
  listProperties: [],
  saveProperty: [{ publisher_domain: words.domain, authorized_agents: [] }],
  listAgents: [{ properties: true, health: true, capabilities: true }],
  listPublishers: [],
  getRegistryStats: [],
  getAgentCompliance: [words.url],
  getAgentStoryboardStatus: [words.url],
  getAgentStoryboardStatusBulk: [words.agent_urls],
  lookupDomains: [words.domains],
  lookupPropertyIdentifiers: [words.identifiers],
  lookupPropertyByIdentifier: [words.type, words.value],
  getAgentDomains: [words.url],
  validatePropertyAuthorization: [words.url, words.identifier_type, words.identifier_value],
  validateProductAuthorization: [words.url, words.publisher_properties],
  expandProductIdentifiers: [words.url, words.publisher_properties],
  checkPropertyList: [words.domains],
  createAdagents: [{ authorized_agents: words.authorized_agents }],
  search: [words.q],
  discoverAgent: [words.url],
  getAgentFormats: [words.url],
  getAgentProducts: [words.url],
  getFeed: [{ limit: 10 }],
  searchAgents: [{ channels: "display" }],
  listPolicies: [],
  resolvePolicy: [{ policy_id: "p" }],
  resolvePoliciesBulk: [{ policy_ids: ["p"] }],
  getPolicyHistory: [{ policy_id: "p" }],
  savePolicy: [{ policy_id: "p", version: "1", name: "n", category: "regulation", enforcement: "must", policy: "x" }],
  getBrandHistory: [{ domain: words.domain }],
  getPropertyHistory: [{ domain: words.domain }],
};

async function call(client: Client, method: string, { reports }: RegistryWorld): Promise<ReportedCall> {
  const own: typeof given = {
    // Its fan-out keeps what fails to itself, result by result.
    saveProperties: [[{ publisher_domain: words.domain, authorized_agents: [] }]],
    getPropertyCheckReport: [reports.domains],
  };
  const args = own[method] ?? given[method];
  try {
    const answer = await client[method]!(...(args ?? [words.domain]));
    const told = JSON.stringify(answer) ?? "";
    if (method === "saveProperties" && told.includes("error")) return { method, outcome: "threw", detail: told };
    const nothing = answer === null || answer === undefined;
    return { method, outcome: nothing ? "nothing" : "answered", detail: told.slice(0, 80) };
  } catch (error) {
    return { method, outcome: "threw", detail: error instanceof Error ? error.message : String(error) };
  }
}

/** A replica starts, and follows a grant and its end. */
async function follow(method: string, replica: Replica, world: RegistryWorld): Promise<MethodCell> {
  try {
    await replica.start();
    const { agents, authorizations } = replica.getStats();
    if (authorizations === 0 || agents === 0) return { method, verdict: "FAILED", why: "it began empty" };
    const domain = `${method.toLowerCase().replace(/\W/g, "-")}.example`;
    await world.grant(domain);
    await until(() => replica.isAuthorized(String(words.url), domain), `${method} hears of a grant`);
    await world.revoke(domain);
    await until(() => !replica.isAuthorized(String(words.url), domain), `${method} hears of its end`);
    return { method, verdict: "works", why: `began with ${agents} agents, ${authorizations} authorizations` };
  } catch (error) {
    return { method, verdict: "FAILED", why: String(error) };
  } finally {
    replica.stop();
  }
}

/** @returns a cell a method, and one a replica */
export async function typescriptCells(world: RegistryWorld): Promise<MethodCell[]> {
  const sdk: Sdk = createRequire(new URL("../peer/package.json", import.meta.url))("@adcp/sdk");
  const client = new sdk.RegistryClient({ baseUrl: world.url, apiKey: world.key });
  const methods = Object.getOwnPropertyNames(sdk.RegistryClient.prototype).filter((name) => !inner.includes(name));
  const cells: MethodCell[] = [];
  for (const method of methods) cells.push(judgeCall(await call(client, method, world)));
  cells.push(await follow("RegistrySync", new sdk.RegistrySync({ client, pollIntervalMs: 50 }), world));
  const properties = new sdk.PropertyRegistry({ registryClient: client, pollInterval: 50 });
  cells.push(await follow("PropertyRegistry", properties, world));
  return cells;
}
