/** Brands as their files tell of them: looked up by domain, and found by what they are called. */
import type { Coroutine } from "../db/coroutine.js";
import type { Database, Query } from "../db/types.js";
import { isJsonObject, list } from "../extract/json-object.js";
import { type BrandFileRow, brandFileOf, brandsWorded } from "../store/registry-brands.js";
import { brandsAfter, brandsNamed, brandsOf } from "../store/registry-lists.js";
import { counts } from "../store/registry-profiles.js";
import { nameWords } from "./brand-files.js";
import type { BrandData, ResolvedBrand } from "./listed-types.js";
import { iso, publisherDomain, sameSite } from "./model.js";
import type { BrandAgent } from "./types.js";

interface Row {
  readonly domain: string;
  readonly brand_name: string | null;
  readonly brand_agents: string | null;
}

function resolvedBrand(row: Row): ResolvedBrand {
  const agents = JSON.parse(row.brand_agents ?? "[]") as BrandAgent[];
  const own = agents.find(({ type }) => type === "brand");
  return {
    canonical_id: row.domain,
    canonical_domain: row.domain,
    brand_name: row.brand_name ?? row.domain,
    source: "brand_json",
    ...(own !== undefined && { brand_agent_url: own.url }),
  };
}

type Manifest = Readonly<Record<string, unknown>>;

const domainIn = (value: unknown): string | undefined =>
  typeof value === "string" ? publisherDomain(value) : undefined;

/** A brand of a house's list is the domain's by its URL, or by a website among its properties. */
const isOf = (brand: Manifest, domain: string): boolean =>
  [brand.url, ...list(brand.properties).map((one) => (isJsonObject(one) ? one.identifier : undefined))].some((name) => {
    const named = domainIn(name);
    return named !== undefined && sameSite(named, domain);
  });

/**
 * Whether a file is a house's own word: it lies at the house's own site, or where the house itself was last found to have its
 * file. Anybody can write a portfolio that names somebody else's house.
 */
function* isOfHouse(q: Query, { url }: BrandFileRow, domain: string, house: string): Coroutine<boolean> {
  if (sameSite(house, domain) || sameSite(house, new URL(url).hostname)) return true;
  return (yield* brandFileOf(q, house))?.url === url;
}

const kellerTypes = ["master", "sub_brand", "endorsed", "independent"] as const;

/** What the file says beyond the name. A house counts as the brand's where its own file lists the brand. */
function* detailsOf(q: Query, domain: string, row: BrandFileRow): Coroutine<Partial<ResolvedBrand>> {
  const { file, variant } = row;
  const document = JSON.parse(file) as Manifest;
  const house = isJsonObject(document.house) ? document.house : undefined;
  const listed = list(document.brands).find((brand): brand is Manifest => isJsonObject(brand) && isOf(brand, domain));
  const manifest = listed ?? (variant === "house_portfolio" ? house : document) ?? document;
  const names = list(manifest.names).filter(isJsonObject);
  const houseDomain = domainIn(house?.domain);
  const counts = listed !== undefined && houseDomain !== undefined && (yield* isOfHouse(q, row, domain, houseDomain));
  const claimed = domainIn(manifest.house_domain) ?? houseDomain;
  const keller = kellerTypes.find((type) => type === manifest.keller_type);
  return {
    ...(names.length > 0 && { names: names as Record<string, unknown>[] }),
    ...(keller !== undefined && { keller_type: keller }),
    ...(counts && { house_domain: houseDomain, relationship_trust: "inline" }),
    ...(counts && typeof house?.name === "string" && { house_name: house.name }),
    ...(!counts && claimed !== undefined && !sameSite(claimed, domain) && { claimed_house_domain: claimed }),
    brand_manifest: manifest,
  };
}

/** By the words of the names, longest first, then by the beginning of name and domain. */
export function* brandsLike(q: Query, text: string, limit: number): Coroutine<ResolvedBrand[]> {
  const prefix = text.trim().toLowerCase();
  const page = { prefix, limit, offset: 0 };
  const words = nameWords(text).sort((a, b) => b.length - a.length);
  const found = new Map<string, ResolvedBrand>();
  const take = (rows: readonly Row[]): void => {
    for (const row of rows) if (found.size < limit) found.set(row.domain, resolvedBrand(row));
  };
  take(yield* brandsNamed(q, page));
  take(yield* brandsAfter(q, page));
  if (found.size < limit && words.length > 0) take(yield* brandsWorded(q, words.slice(0, MAX_WORDS), limit));
  return [...found.values()];
}

/** Words of a question that are looked at. */
const MAX_WORDS = 5;

function* brandsListed(
  q: Query,
  { search = "", limit, offset }: Parameters<BrandData["listBrands"]>[0],
): Coroutine<ResolvedBrand[]> {
  if (search.trim() === "") return (yield* brandsAfter(q, { prefix: "", limit, offset })).map(resolvedBrand);
  return (yield* brandsLike(q, search, offset + limit)).slice(offset);
}

export const brandData = (db: Database): BrandData => ({
  resolveBrands: (domains) =>
    db.read(function* (q): Coroutine<Map<string, ResolvedBrand>> {
      return new Map((yield* brandsOf(q, domains)).map((row) => [row.domain, resolvedBrand(row)]));
    }),
  resolveBrand: (domain) =>
    db.read(function* (q): Coroutine<ResolvedBrand | undefined> {
      const [row] = yield* brandsOf(q, [domain]);
      if (row === undefined) return undefined;
      const file = yield* brandFileOf(q, domain);
      return { ...resolvedBrand(row), ...(file !== undefined && (yield* detailsOf(q, domain, file))) };
    }),
  brandFile: (domain) =>
    db.read(function* (q) {
      const row = yield* brandFileOf(q, domain);
      if (row === undefined) return undefined;
      const data = JSON.parse(row.file) as Record<string, unknown>;
      return { domain, url: row.url, variant: row.variant, data, fetched_at: iso(row.fetched_at) };
    }),
  listBrands: (wanted) => db.read((q) => brandsListed(q, wanted)),
  findBrands: (text, limit) => db.read((q) => brandsLike(q, text, limit)),
  brandCount: () =>
    db.read(function* (q): Coroutine<number> {
      const rows = yield* counts(q);
      return rows.find(({ kind, name }) => kind === "brands" && name === "known")?.count ?? 0;
    }),
});
