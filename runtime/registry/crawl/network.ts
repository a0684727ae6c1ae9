/**
 * The publishers that a file speaks for, looked at one by one: does each point back? A manager's file is believed by those
 * alone whose own origin leads to it, by an authoritative location or by ads.txt (docs/protocol/files.md#where-it-is).
 */
import { isJsonObject } from "../../contract/json-object.js";
import { safely } from "../../listener.js";
import { expectedUrl, sameSite } from "../model.js";
import type { JsonRecord } from "./document.js";
import { type Located, locate, type NotLocated, type Origin, whyNotLocated } from "./locate.js";
import { domainIn } from "./values.js";

/** Publishers of one file that are looked at. */
const MAX_PUBLISHERS = 100_000;

/**
 * `linked`: named, and points here. `own`: named, and has a file of its own, which is what counts. `stale`: named, and points
 * elsewhere. `missing`: named, and points nowhere. `orphaned`: points here, and is not named, or not any more. `unreachable`: nobody
 * knows now. `apart`: neither named nor pointing here. `skipped`: there was no time for it.
 */
export type LinkStatus = "linked" | "own" | "stale" | "missing" | "orphaned" | "unreachable" | "apart" | "skipped";

export interface PublisherLink {
  readonly domain: string;
  readonly status: LinkStatus;
  /** What was found, in a clause; null where all is well. */
  readonly detail: string | null;
  readonly remedy: string | null;
}

/** Domains that objects of a list name as `publisher_domain` or in `publisher_domains`. */
function* namedIn(list: unknown): Generator<string> {
  if (!Array.isArray(list)) return;
  for (const one of list) {
    if (!isJsonObject(one)) continue;
    const several: unknown[] = Array.isArray(one.publisher_domains) ? one.publisher_domains : [];
    for (const given of [one.publisher_domain, ...several]) {
      const domain = domainIn(given);
      if (domain !== undefined) yield domain;
    }
  }
}

function* namedBy(document: JsonRecord): Generator<string> {
  yield* namedIn(document.properties);
  const agents: unknown[] = Array.isArray(document.authorized_agents) ? document.authorized_agents : [];
  for (const agent of agents) {
    if (!isJsonObject(agent)) continue;
    yield* namedIn(agent.publisher_properties);
    yield* namedIn(agent.properties);
    yield* namedIn(agent.collections);
  }
}

export interface Network {
  /** Domain of the file. */
  readonly domain: string;
  /** Where it lies: pointers to any of these lead to it. */
  readonly locations: readonly string[];
  /** Publishers it names, in order; its own domain is not among them. */
  readonly publishers: readonly string[];
  /** Those among them that it speaks for no more. */
  readonly revoked: readonly string[];
}

/** @param url where the file was found */
export function networkOf(document: JsonRecord, domain: string, url: string | null): Network {
  const publishers = new Set<string>();
  for (const named of namedBy(document)) {
    if (!sameSite(named, domain)) publishers.add(named);
    if (publishers.size === MAX_PUBLISHERS) break;
  }
  const locations = [...new Set([expectedUrl(domain), ...(url === null ? [] : [url])])];
  const revoked = [...namedIn(document.revoked_publisher_domains)];
  return { domain, locations, publishers: [...publishers], revoked };
}

type Pointing =
  | { readonly to: "here" | "own" | "nowhere" }
  | { readonly to: "elsewhere" | "unknown"; readonly why: string };

/** Where an origin leads to. */
function pointingOf(found: Located | NotLocated, { domain, locations }: Network): Pointing {
  const { method, managerDomain, resolvedUrl } = found;
  if (method === "ads_txt_managerdomain" && managerDomain !== null) {
    if (sameSite(managerDomain, domain)) return { to: "here" };
    return { to: "elsewhere", why: `its ads.txt names ${managerDomain}` };
  }
  if (method === "authoritative_location" && resolvedUrl !== null) {
    if (locations.includes(resolvedUrl)) return { to: "here" };
    return { to: "elsewhere", why: `it points to ${resolvedUrl}` };
  }
  if (found.ok) return { to: "own" };
  return found.outcome === "absent" ? { to: "nowhere" } : { to: "unknown", why: whyNotLocated(found) };
}

const link = (domain: string, status: LinkStatus, detail: string | null, remedy: string | null): PublisherLink => ({
  domain,
  status,
  detail,
  remedy,
});

function linkOf(domain: string, pointing: Pointing, named: "named" | "revoked" | "unnamed", at: string): PublisherLink {
  if (pointing.to === "unknown")
    return link(domain, "unreachable", pointing.why, "look again when its origin answers, or ask the publisher");
  if (named !== "named") {
    if (pointing.to !== "here") return link(domain, "apart", null, null);
    return named === "revoked"
      ? link(domain, "orphaned", "it points here, and is revoked", "have the publisher take its pointer back")
      : link(
          domain,
          "orphaned",
          "it points here, and is not named",
          "name it in the file, or have its pointer taken back",
        );
  }
  switch (pointing.to) {
    case "here":
      return link(domain, "linked", null, null);
    case "own":
      return link(
        domain,
        "own",
        "it has a file of its own, which is what counts",
        "take it out, or have it point here",
      );
    case "elsewhere":
      return link(domain, "stale", pointing.why, `have it point to ${at}, or take it out`);
    case "nowhere":
      return link(domain, "missing", "its origin has no file and no pointer", `have it point to ${at}, or take it out`);
  }
}

export interface NetworkOptions {
  /** Publishers looked at at once. */
  readonly concurrency: number;
  /** Domains that may point here without being named. */
  readonly others?: readonly string[];
  /** Those not begun when it aborts are skipped. */
  readonly signal?: AbortSignal;
  /** Told after each. */
  readonly onLooked?: (link: PublisherLink) => void;
}

/** Looks at every publisher of a network. @returns them in the order of the file, others after them */
export async function networkLinks(
  origin: Origin,
  network: Network,
  options: NetworkOptions,
): Promise<PublisherLink[]> {
  const { concurrency, others = [], signal, onLooked } = options;
  const named = new Set(network.publishers);
  const domains = [...new Set([...network.publishers, ...network.revoked, ...others])];
  const revoked = new Set(network.revoked);
  const links: PublisherLink[] = [];
  const look = async (domain: string): Promise<PublisherLink> => {
    if (signal?.aborted)
      return link(domain, "skipped", "there was no time for it", "allow more time, or look at fewer at once");
    const kind = revoked.has(domain) ? "revoked" : named.has(domain) ? "named" : "unnamed";
    return linkOf(domain, pointingOf(await locate(origin, domain), network), kind, network.locations.at(-1)!);
  };
  // One iterator: each of the turns takes the next domain of all.
  const next = domains.entries();
  const turn = async (): Promise<void> => {
    for (const [at, domain] of next) {
      const found = await look(domain);
      links[at] = found;
      safely(() => onLooked?.(found));
    }
  };
  await Promise.all(Array.from({ length: concurrency }, turn));
  return links;
}
