/** What is wrong with a publisher's file, for whoever writes it: as the crawler reads it, and nothing is kept. */
import { createGuardedFetch, type Fetcher, type NameLookup, openNameLookup } from "../../net/index.js";
import type { FileProblem } from "../file-problems.js";
import { expectedUrl } from "../model.js";
import type { DiscoveryMethod } from "../types.js";
import { readAuthorizationFile } from "./authorization-file.js";
import { type JsonRecord, readFetched } from "./document.js";
import { locate, type Origin, type Via, whyNotLocated } from "./locate.js";
import { type Network, type NetworkOptions, networkLinks, networkOf, type PublisherLink } from "./network.js";
import { pacedFetch } from "./pace.js";
import { ROBOT_NAME } from "./robots.js";
import { sharedFiles } from "./shared-files.js";

export interface ExaminedFile {
  /** Whom it is to speak for. */
  readonly domain: string;
  /** `held` is nobody's here: what was there before is not known. */
  readonly verdict: "valid" | "invalid" | "absent" | "unreachable";
  /** Why there is no valid file; null where there is. */
  readonly error: string | null;
  readonly method: DiscoveryMethod;
  /** Where the file was found; null for one that was given. */
  readonly url: string | null;
  readonly agents: number;
  readonly properties: number;
  readonly problems: readonly FileProblem[];
  /** The publishers it names beside its own domain. */
  readonly network: Network;
}

export interface Doctor {
  /** The file at a domain. */
  atDomain(domain: string): Promise<ExaminedFile>;
  /** The bytes of a file that somebody has, as if it stood at the domain. */
  given(file: Uint8Array, domain: string): ExaminedFile;
  /** Whether publishers of a network point to its file. */
  links(network: Network, options: NetworkOptions): Promise<PublisherLink[]>;
  close(): Promise<void>;
}

export interface DoctorOptions {
  /** Default a guarded fetch with production rules, paced by owner. */
  readonly fetch?: Fetcher;
  /** For that fetch: closed with the doctor. Default one that asks the system's name servers. */
  readonly names?: NameLookup;
  /** Clock in unix milliseconds. */
  readonly now?: () => number;
}

const nobody = (domain: string): Network => networkOf({}, domain, null);

interface Found {
  readonly document: JsonRecord;
  readonly domain: string;
  readonly via: Via;
  readonly url: string | null;
  readonly method: DiscoveryMethod;
}

function read({ document, domain, via, url, method }: Found, now: number): ExaminedFile {
  const found = readAuthorizationFile(document, { domain, via, now });
  const network = networkOf(document, domain, url);
  // In a file that speaks for others their properties are what it is for; whether they agree is seen at their origins.
  const problems = found.problems.filter(({ rule }) => rule !== "property_foreign" || network.publishers.length === 0);
  const common = { domain, method, url, problems, network };
  if (!found.ok) return { ...common, verdict: "invalid", error: found.problems[0].message, agents: 0, properties: 0 };
  const { agents, properties } = found.file;
  return { ...common, verdict: "valid", error: null, agents: agents.length, properties: properties.length };
}

/** The bytes of a file that somebody has, as if it stood at the domain. @param now unix milliseconds */
export function examineGiven(body: Uint8Array, domain: string, now: number): ExaminedFile {
  const found = readFetched({ ok: true, status: 200, body, url: expectedUrl(domain) });
  const common = { domain, url: null, method: "direct" } as const;
  if (found.ok) return read({ ...common, document: found.value, via: "own" }, now);
  const nothing = { agents: 0, properties: 0, problems: [], network: nobody(domain) };
  return { ...common, ...nothing, verdict: "invalid", error: found.message };
}

/** Fetches for as long as a doctor is open; names that are asked for then hold nobody up who has seen enough. */
function fetcherOf(names: NameLookup): { fetch: Fetcher; close: () => Promise<void> } {
  const own = createGuardedFetch({ userAgent: `${ROBOT_NAME} doctor`, lookup: names.lookup });
  return {
    fetch: pacedFetch(own),
    close() {
      names.close();
      return own.close();
    },
  };
}

/** Opens a doctor; it is closed by whoever opened it. */
export function openDoctor({ fetch: given, names, now = Date.now }: DoctorOptions = {}): Doctor {
  const own = given === undefined ? fetcherOf(names ?? openNameLookup()) : undefined;
  const fetch = given ?? own!.fetch;
  const origin: Origin = {
    fetch,
    publicUrl: "http://localhost",
    hostedFile: async () => undefined,
    shared: sharedFiles(now),
  };
  return {
    async atDomain(domain) {
      const found = await locate(origin, domain);
      if (found.ok) return read({ ...found, domain }, now());
      const { method, resolvedUrl: url } = found;
      const error = whyNotLocated(found);
      const verdict = found.outcome === "held" ? "unreachable" : found.malformed ? "invalid" : found.outcome;
      return { domain, verdict, error, method, url, agents: 0, properties: 0, problems: [], network: nobody(domain) };
    },
    given: (body, domain) => examineGiven(body, domain, now()),
    links: (network, options) => networkLinks(origin, network, options),
    close: async () => own?.close(),
  };
}
