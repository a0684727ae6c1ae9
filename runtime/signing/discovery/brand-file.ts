/** A brand file, as far as the keys of agents go: fetched, held to its caps, followed to where it points. */

import { isJsonObject } from "../../contract/json-object.js";
import { momentMs } from "../../moment.js";
import type { Load, LoadFailure } from "./document.js";
import { failure, fetchBytes, type JsonRecord, objectIn, ttlOf } from "./fetch-json.js";
import type { Discovery } from "./options.js";

/** 256 KiB, docs/protocol/signing.md#outbound-requests, 5. */
export const MAX_BRAND_BYTES = 256 * 1024;
/** Levels of nesting; a published limit from 3.3 on, and real files have about ten. */
const MAX_NESTING_LEVELS = 32;

/** One `agents[]` entry, as far as keys go. */
interface AgentEntry {
  readonly url: string;
  readonly type: string;
  /** Absent: the default place. */
  readonly jwksUri: string | undefined;
  /** The array it stands in: URLs are unique within one. */
  readonly list: number;
}

/** Whom a house lets speak for it. */
interface OperatorEntry {
  readonly domain: string;
  /** When it may, in seconds since 1970; a bound that cannot be read lets nobody. */
  readonly from: number;
  readonly until: number;
}

/** What a brand file says of whose keys are whose. */
export interface BrandDocument {
  readonly agents: readonly AgentEntry[];
  /** Of a house; nobody in any other file. */
  readonly operators: readonly OperatorEntry[];
}

/** Agents of a document: its own, its house's and those of its brands. */
function readAgents(document: JsonRecord): AgentEntry[] {
  const owners = [document, document.house, ...(Array.isArray(document.brands) ? document.brands : [])];
  return owners.filter(isJsonObject).flatMap((owner, list) =>
    (Array.isArray(owner.agents) ? owner.agents : []).flatMap((entry): AgentEntry[] => {
      if (!isJsonObject(entry) || typeof entry.url !== "string") return [];
      // A jwks_uri of the wrong type is kept as an unusable one: the default must not stand in for a mistake.
      const { jwks_uri } = entry;
      const jwksUri = jwks_uri === undefined ? undefined : String(jwks_uri);
      return [{ url: entry.url, type: String(entry.type), list, jwksUri }];
    }),
  );
}

const instant = (value: unknown, absent: number): number =>
  value === undefined || value === null ? absent : momentMs(String(value)) / 1_000;

const readOperators = ({ house, authorized_operators: given }: JsonRecord): OperatorEntry[] =>
  !isJsonObject(house) || !Array.isArray(given)
    ? []
    : given.flatMap((entry) =>
        isJsonObject(entry) && typeof entry.domain === "string" && entry.domain !== ""
          ? [
              {
                domain: entry.domain.toLowerCase(),
                from: instant(entry.valid_from, Number.NEGATIVE_INFINITY),
                until: instant(entry.valid_until, Number.POSITIVE_INFINITY),
              },
            ]
          : [],
      );

/** Where a brand file that only points elsewhere points to; undefined when it is the file itself. */
export function brandPointer(document: JsonRecord): string | undefined {
  if (typeof document.authoritative_location === "string") return document.authoritative_location;
  return typeof document.house === "string" ? brandUrlOf(document.house) : undefined;
}

export const brandUrlOf = (domain: string): string => `https://${domain}/.well-known/brand.json`;

/** What stands at one URL. */
interface Page {
  readonly pointer: string | undefined;
  readonly document: BrandDocument;
}

interface Caps {
  /** Longest time the file is used, in seconds. */
  readonly ttl: number;
  readonly maxBytes: number;
}

/** Makes the loader of the file at a URL. It remembers pages by their `ETag`: one that did not change is not sent again. */
export function brandLoader(
  { fetch }: Discovery,
  url: string,
  { ttl, maxBytes }: Caps,
): () => Promise<Load<BrandDocument>> {
  let remembered = new Map<string, { readonly etag: string; readonly page: Page }>();

  const pageAt = async (
    at: string,
    keep: typeof remembered,
  ): Promise<{ readonly ok: true; readonly page: Page; readonly ttlSeconds: number } | LoadFailure> => {
    const known = remembered.get(at);
    const fetched = await fetchBytes(fetch, at, { maxBytes, etag: known?.etag });
    if (!fetched.ok) return fetched;
    const ttlSeconds = ttlOf(fetched.headers, ttl);
    if (fetched.unchanged && known !== undefined) {
      keep.set(at, known);
      return { ok: true, page: known.page, ttlSeconds };
    }
    const read = objectIn(fetched.bytes, MAX_NESTING_LEVELS);
    if (!read.ok) return read;
    const pointer = brandPointer(read.value);
    const document =
      pointer === undefined
        ? { agents: readAgents(read.value), operators: readOperators(read.value) }
        : { agents: [], operators: [] };
    const page: Page = { pointer, document };
    const { etag } = fetched.headers;
    if (etag !== undefined) keep.set(at, { etag, page });
    return { ok: true, page, ttlSeconds };
  };

  return async () => {
    const keep: typeof remembered = new Map();
    const first = await pageAt(url, keep);
    if (!first.ok) return first;
    const { pointer } = first.page;
    if (pointer === undefined) {
      remembered = keep;
      return { ok: true, value: first.page.document, ttlSeconds: first.ttlSeconds };
    }
    const second = await pageAt(pointer, keep);
    if (!second.ok) return second;
    if (second.page.pointer !== undefined) return failure("refused", "the brand file is more than one redirect away");
    remembered = keep;
    return { ok: true, value: second.page.document, ttlSeconds: Math.min(first.ttlSeconds, second.ttlSeconds) };
  };
}
