/**
 * Finds the agent-authorization file that speaks for a domain (docs/protocol/files.md#where-it-is): at its well-known
 * place, where that points to, or at the manager that its ads.txt names.
 */
import { isJsonObject } from "../../contract/json-object.js";
import { type Fetcher, registrableDomain, wellKnownRedirects } from "../../net/index.js";
import { MAX_ADAGENTS_BYTES } from "../../signing/discovery/pin.js";
import { expectedUrl, hostedUrl } from "../model.js";
import type { AdagentsOutcome, DiscoveryMethod, JsonValue } from "../types.js";
import { managerDomainOf } from "./ads-txt.js";
import {
  type DocumentRequest,
  type Fetched,
  type FetchedDocument,
  fetchAny,
  fetchDocument,
  type JsonRecord,
  type NotFetched,
  notFetched,
  readFetched,
} from "./document.js";
import type { Quarantine } from "./file-rules.js";
import type { SharedFiles } from "./shared-files.js";

/** ads.txt files of large publishers reach half of it. */
const MAX_ADS_TXT_BYTES = 2 * 1024 * 1024;
/** Longest pointer, in characters: one that waits is kept, and nothing longer is dialled. */
const MAX_LOCATION = 8_192;
/** The ads.txt convention lets an origin redirect to any host (docs/protocol/files.md#where-it-is, 3). */
const ADS_TXT_REDIRECTS = { hops: 5, scope: "any" } as const;

export interface Origin {
  readonly fetch: Fetcher;
  readonly signal?: AbortSignal | undefined;
  /** Origin of this registry: files it hosts are read without asking itself. */
  readonly publicUrl: string;
  readonly hostedFile: (domain: string) => Promise<JsonValue | undefined>;
  /** Where files that speak for many domains are shared; default nowhere. */
  readonly shared?: SharedFiles;
  /** Somebody waits for what is there now: shared files are fetched again. */
  readonly fresh?: boolean;
  /** Says whether a location may not be followed now; default all may. */
  readonly pointer?: (location: string) => Quarantine | undefined;
}

/** How a document came to speak for the domain. `own`: from its own site; `pointed`: elsewhere, by its own word. */
export type Via = "own" | "pointed" | "manager";

export interface FileProvenance {
  readonly method: DiscoveryMethod;
  readonly managerDomain: string | null;
  readonly status: number | null;
  readonly bytes: number | null;
  readonly resolvedUrl: string | null;
}

export interface Located extends FileProvenance {
  readonly ok: true;
  readonly via: Via;
  /** Where the document is. */
  readonly url: string;
  /** An authoritative location led to it. */
  readonly pointed: boolean;
  readonly document: JsonRecord;
}

export interface NotLocated extends FileProvenance {
  readonly ok: false;
  readonly outcome: Exclude<AdagentsOutcome, "valid">;
  /** Something came back that is no JSON: a deployment under way, or a mistake. */
  readonly malformed: boolean;
  readonly aborted: boolean;
  /** It stands where nothing is fetched: asking again changes nothing. */
  readonly leftAlone: boolean;
  readonly message: string;
  readonly detail: string;
  /** With `held`: when what was found is taken if it stays. */
  readonly heldUntil: number | null;
}

/** Why there is no document, for whoever asks from this machine, as to mend a certificate: of others it would be a look at its network. */
export const whyNotLocated = ({ message, detail }: NotLocated): string =>
  detail === "" || detail === message ? message : `${message} (${detail})`;

/** @param found `absent` is the origin's word about itself; at a place that was pointed to, it is a fault that may heal */
const notLocated = (found: NotFetched, provenance: Partial<FileProvenance>, pointed = false): NotLocated => ({
  ok: false,
  outcome: outcomeOf(found, pointed),
  malformed: found.kind === "syntax",
  aborted: found.kind === "aborted",
  leftAlone: found.kind === "opted_out",
  message: found.message,
  detail: found.detail,
  heldUntil: null,
  method: "direct",
  managerDomain: null,
  resolvedUrl: null,
  status: found.status,
  bytes: found.bytes,
  ...provenance,
});

function outcomeOf({ kind }: NotFetched, pointed: boolean): NotLocated["outcome"] {
  switch (kind) {
    case "absent":
      return pointed ? "unreachable" : "absent";
    case "too_large":
    case "shape":
      return "invalid";
    case "timeout":
    case "connection":
    case "redirect":
    case "status":
    case "answer":
    case "syntax":
    case "aborted":
    case "opted_out":
      return "unreachable";
  }
}

const requestOf = ({ signal }: Origin): DocumentRequest => ({ maxBytes: MAX_ADAGENTS_BYTES, signal });

const wellKnown = (origin: Origin, domain: string): Promise<Fetched | NotFetched> =>
  fetchAny(origin.fetch, expectedUrl(domain), { ...requestOf(origin), redirects: wellKnownRedirects });

/** @param kind what is done to fetch it: the same URL may be one thing at its own place, and another where it is pointed to */
const sharedDocument = (
  { shared, fresh = false }: Origin,
  kind: "well-known" | "location",
  url: string,
  load: () => Promise<FetchedDocument | NotFetched>,
): Promise<FetchedDocument | NotFetched> => (shared === undefined ? load() : shared.get(`${kind} ${url}`, load, fresh));

async function managerFile(origin: Origin, manager: string): Promise<FetchedDocument | NotFetched> {
  const fetched = await wellKnown(origin, manager);
  return fetched.ok ? readFetched(fetched) : fetched;
}

/** There is no file, and the origin says so: object stores answer 403 for what they do not have. */
const hasNoFile = ({ status, body }: Fetched): boolean =>
  status === 404 ||
  (status === 403 && Buffer.from(body.subarray(0, 4096)).toString("latin1").includes("<Code>AccessDenied</Code>"));

/** @see Located */
export async function locate(origin: Origin, domain: string): Promise<Located | NotLocated> {
  const fetched = await wellKnown(origin, domain);
  if (!fetched.ok) return notLocated(fetched, {});
  if (hasNoFile(fetched)) return throughAdsTxt(origin, domain, fetched);
  const found = readFetched(fetched);
  const resolvedUrl = fetched.url === expectedUrl(domain) ? null : fetched.url;
  if (!found.ok) return notLocated(found, { resolvedUrl });
  return followed(origin, domain, found, { method: "direct", managerDomain: null });
}

/** The document itself, or the one it points to. */
async function followed(
  origin: Origin,
  domain: string,
  found: FetchedDocument,
  provenance: Pick<FileProvenance, "method" | "managerDomain">,
): Promise<Located | NotLocated> {
  const { authoritative_location: location } = found.value;
  const manager = provenance.method === "ads_txt_managerdomain";
  const at = (from: FetchedDocument, via: Via): Located => ({
    ok: true,
    via: manager ? "manager" : via,
    url: from.url,
    pointed: from !== found,
    document: from.value,
    status: from.status,
    bytes: from.bytes,
    resolvedUrl: from.url === expectedUrl(domain) ? null : from.url,
    ...provenance,
  });
  if (typeof location !== "string") return at(found, "own");
  const pointed = { ...provenance, method: manager ? provenance.method : ("authoritative_location" as const) };
  const resolvedUrl = location.length <= MAX_LOCATION && URL.canParse(location) ? new URL(location).href : null;
  const refused = (message: string): NotLocated =>
    notLocated(notFetched("shape", message, found), { ...pointed, resolvedUrl });
  if (resolvedUrl === null || !resolvedUrl.startsWith("https:"))
    return refused(
      location.length > MAX_LOCATION
        ? `authoritative_location is longer than ${MAX_LOCATION} characters`
        : "authoritative_location is not an https URL",
    );
  const quarantine = quarantined(origin, domain, resolvedUrl);
  if (quarantine !== undefined) return { ...refused(quarantine.message), outcome: "held", heldUntil: quarantine.until };
  const target = await pointedTo(origin, domain, resolvedUrl);
  if (!target.ok) return notLocated(target, { ...pointed, resolvedUrl }, true);
  if (typeof target.value.authoritative_location === "string")
    return refused("authoritative_location points to a file that points on");
  const own = registrableDomain(new URL(target.url).hostname) === registrableDomain(domain);
  return { ...at(target, own ? "own" : "pointed"), ...pointed };
}

/** A file that this registry hosts for the domain is one whose operator has agreed to it already. */
const quarantined = (origin: Origin, domain: string, location: string): Quarantine | undefined =>
  location === hostedUrl(origin.publicUrl, domain) ? undefined : origin.pointer?.(location);

async function pointedTo(origin: Origin, domain: string, url: string): Promise<FetchedDocument | NotFetched> {
  if (url === hostedUrl(origin.publicUrl, domain)) {
    const file = await origin.hostedFile(domain);
    if (!isJsonObject(file)) return notFetched("absent", "the registry hosts no file for this domain");
    return { ok: true, status: 200, bytes: Buffer.byteLength(JSON.stringify(file)), url, value: file };
  }
  // No redirects: the URL named here is the word itself, and being sent on would change it.
  const load = () => fetchDocument(origin.fetch, url, requestOf(origin));
  const found = await sharedDocument(origin, "location", url, load);
  const redirected = !found.ok && found.kind === "status" && found.status! >= 300 && found.status! < 400;
  return redirected ? { ...found, kind: "redirect", message: "the authoritative location redirects" } : found;
}

/** One step and no more: a manager's ads.txt is never asked. */
async function throughAdsTxt(origin: Origin, domain: string, missing: Fetched): Promise<Located | NotLocated> {
  const seen = { status: missing.status, bytes: missing.body.byteLength };
  const none = notLocated(notFetched("absent", `the origin answered with status ${missing.status}`, seen), {});
  const adsTxt = await fetchAny(origin.fetch, `https://${domain}/ads.txt`, {
    maxBytes: MAX_ADS_TXT_BYTES,
    redirects: ADS_TXT_REDIRECTS,
    signal: origin.signal,
  });
  if (!adsTxt.ok) {
    // One that cannot be read however often it is asked for names nobody. While it might be read later, nobody knows
    // whether there is a manager, and what is known of the domain must not change by it.
    const unreadable = ["too_large", "redirect", "answer"].includes(adsTxt.kind);
    return unreadable ? none : notLocated(adsTxt, { ...seen });
  }
  if (adsTxt.status >= 500 || adsTxt.status === 429)
    return notLocated(notFetched("status", `ads.txt was answered with status ${adsTxt.status}`, seen), {});
  if (adsTxt.status !== 200) return none;
  const managerDomain = managerDomainOf(Buffer.from(adsTxt.body).toString("utf8"));
  if (managerDomain === undefined || managerDomain === domain) return none;
  const provenance = { method: "ads_txt_managerdomain", managerDomain } as const;
  const load = () => managerFile(origin, managerDomain);
  const found = await sharedDocument(origin, "well-known", managerDomain, load);
  if (!found.ok) return notLocated(found, { ...provenance, resolvedUrl: expectedUrl(managerDomain) });
  return followed(origin, domain, found, provenance);
}
