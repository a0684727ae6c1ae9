/** A bundle by name from the network: its checksum first, then its bytes, over the guarded fetch. */
import { checksumIn, MAX_ARCHIVE_BYTES, sha256 } from "../../generator/load/checksum.js";
import { AdbindError } from "../../runtime/errors.js";
import { createGuardedFetch, type Fetcher, type FetchResponse } from "../../runtime/net/index.js";
import type { NewBundle } from "./cache.js";
import { type Source, urlOf } from "./sources.js";

/** A bundle of 10 MB over a slow line takes minutes; one that trickles or hangs must end. */
const timeouts = { readMs: 30_000, totalMs: 300_000 };

/** A checksum is a line; an index has a line a version. */
const MAX_CHECKSUM_BYTES = 64 * 1024;
const MAX_INDEX_BYTES = 4 * 1024 * 1024;

/** Downloads are commonly handed to another host, which the checksum makes harmless. */
const redirects = { hops: 5, scope: "any" } as const;

/** Whoever typed a local address means it; an address from the table that comes with adbind never is one. */
const isLocal = (url: string): boolean => /^(localhost|127\.[\d.]+|\[::1\])$/.test(new URL(url).hostname);

export type ClosingFetcher = Fetcher & { close(): Promise<void> };

/** A fetch for one place. */
export const fetcherFor = (url: string, given: boolean): ClosingFetcher =>
  createGuardedFetch({ userAgent: "adbind", allowLoopback: given && isLocal(url) });

const unreadable = (url: string, what: string, remedy: string): AdbindError =>
  new AdbindError("release_unreadable", what, { where: url, remedy });

const offline = "try again, or get the bundle by other means and give its path";

/** @throws AdbindError release_unreadable for anything but a 200 */
async function get(fetch: Fetcher, url: string, maxBytes: number): Promise<FetchResponse> {
  const result = await fetch(url, { maxBytes, timeouts, redirects });
  if (!result.ok) throw unreadable(url, `cannot be fetched: ${result.detail} [${result.code}]`, offline);
  if (result.status === 200) return result;
  const missing = result.status === 404 || result.status === 410;
  const what = missing ? `is not there (status ${result.status})` : `is answered with status ${result.status}`;
  throw unreadable(url, what, missing ? "check word and version, or give a path" : offline);
}

export interface Wanted {
  readonly word: string;
  readonly version: string;
  readonly source: Source;
  /** SHA-256 the user gave, hex. */
  readonly sha256: string | undefined;
}

/**
 * Fetches a bundle and holds it against its checksum.
 * @throws AdbindError release_unreadable
 */
export async function fetchBundle(
  fetch: Fetcher,
  { word, version, source, sha256: given }: Wanted,
): Promise<NewBundle> {
  const url = urlOf(source.bundle, word, version);
  let stated = given?.toLowerCase();
  if (source.checksum !== undefined) {
    const from = urlOf(source.checksum, word, version);
    const text = Buffer.from((await get(fetch, from, MAX_CHECKSUM_BYTES)).body).toString("utf8");
    const hex = checksumIn(text, new URL(url).pathname.split("/").at(-1)!);
    if (hex === undefined) throw unreadable(from, "is no SHA-256 of the bundle", "give --sha256, or another source");
    stated ??= hex;
  }
  if (stated === undefined)
    throw unreadable(url, "the source states no checksum", 'add "checksum" to the source, or give --sha256');
  const { body } = await get(fetch, url, MAX_ARCHIVE_BYTES);
  const own = sha256(body);
  if (own !== stated)
    throw unreadable(url, `has SHA-256 ${own}, and ${stated} is stated`, "it is not the file meant: nothing is kept");
  return { word, version, bytes: body, sha256: own, url };
}

const versionOf = (entry: unknown): unknown =>
  typeof entry === "object" && entry !== null ? (entry as { version?: unknown }).version : entry;

/**
 * The versions an index lists.
 * @throws AdbindError release_unreadable
 */
export async function fetchIndex(fetch: Fetcher, word: string, index: string): Promise<string[]> {
  const url = urlOf(index, word, "");
  const text = Buffer.from((await get(fetch, url, MAX_INDEX_BYTES)).body).toString("utf8");
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw unreadable(url, "the index of versions is not JSON", "give a version, e.g. 3.1.0");
  }
  const listed = Array.isArray(value) ? value : (value as { versions?: unknown } | null)?.versions;
  const entries = Array.isArray(listed) ? listed.map(versionOf) : Object.keys((listed as object | undefined) ?? {});
  const versions = entries.filter((one): one is string => typeof one === "string");
  if (versions.length > 0) return versions;
  throw unreadable(url, 'the index lists no versions: neither a list nor an object with "versions"', "give a version");
}
