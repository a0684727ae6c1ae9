/** The registry client of the official Python SDK, method by method, and its replicas. */
import path from "node:path";
import { type Talk, talkPython } from "../signing/python.js";
import { judgeCall, type MethodCell, type ReportedCall } from "./cells.js";
import { type RegistryWorld, words } from "./world.js";

/** Arguments that a method needs and its signature does not say. */
const special = {
  create_adagents: { authorized_agents: words.authorized_agents },
  get_feed: { limit: 10 },
  resolve_policy: { policy_id: "p" },
  list_brands: { limit: 10 },
};

/** Bodies of methods that take whatever they are given. */
const bodies = {
  request_brand_crawl: { domain: words.crawled },
  request_manager_revalidation: { manager_domain: words.domain },
  bulk_property_check: { identifiers: words.domains },
};

/** What the client itself cannot do, whatever a registry answers. */
const departures: Readonly<Record<string, { readonly says: RegExp; readonly why: string }>> = {
  get_agent_authorizations_snapshot: {
    says: /^JSONDecodeError: Extra data/,
    why: "the client reads lines of JSON as one document, which they are of one row at most",
  },
};

function judged(called: ReportedCall): MethodCell {
  const departure = departures[called.method];
  if (called.outcome === "threw" && departure?.says.test(called.detail))
    return { method: called.method, verdict: "the client's", why: departure.why };
  return judgeCall(called);
}

async function replicas(talk: Talk, world: RegistryWorld): Promise<MethodCell[]> {
  const began = await talk({ do: "start", url: world.url, key: world.key });
  const agent = String(words.url);
  const ask = (domain: string, authorized: boolean, event: string) =>
    talk({ do: "ask", agent, domain, authorized, event: `authorization.${event}` });
  await world.grant("python.example");
  const granted = await ask("python.example", true, "granted");
  await world.revoke("python.example");
  const revoked = await ask("python.example", false, "revoked");
  await talk({ do: "stop" });
  const cell = (method: string): MethodCell => {
    const heard = granted[method] === true && revoked[method] === true;
    const why = `began with ${began.agents} agents of ${began.domains} domains`;
    return { method, verdict: heard ? "works" : "FAILED", why: heard ? why : "it did not hear of a grant and its end" };
  };
  return [cell("RegistrySync"), cell("PropertyRegistry")];
}

/** @returns a cell a method, and one a replica */
export async function pythonCells(world: RegistryWorld): Promise<MethodCell[]> {
  const { ask: talk, close } = await talkPython(path.join(import.meta.dirname, "peer.py"));
  try {
    const { domains, identifiers } = world.reports;
    const asked = {
      ...special,
      get_property_check_report: { report_id: domains },
      get_bulk_property_check_report: { report_id: identifiers },
      verify_hosted_property_origin: { domain: world.hosted },
    };
    const { calls } = await talk({ do: "call", url: world.url, key: world.key, words, special: asked, bodies });
    return [...(calls as ReportedCall[]).map(judged), ...(await replicas(talk, world))];
  } finally {
    await close();
  }
}
