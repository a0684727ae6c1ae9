/** Lists of domains and identifiers that somebody buys by, gone through against what is known. */
import { randomUUID } from "node:crypto";
import type { components } from "../../generated/registry/openapi.js";
import type { Coroutine } from "../db/coroutine.js";
import type { Database } from "../db/types.js";
import {
  type KnownDomainRow,
  type KnownValueRow,
  keepReport,
  keptReport,
  knownDomains,
  knownValues,
} from "../store/registry-checks.js";
import type { CheckedData, IdentifierCheck, PropertyCheck } from "./checked-types.js";
import { propertyHandle } from "./feed/authorizations.js";
import { identifierValue, publisherDomain, siteOf } from "./model.js";
import { storeIdentifier } from "./store-addresses.js";

type Schemas = components["schemas"];
type CheckedIdentifier = Schemas["CheckedIdentifier"];
type Filled<T> = { -readonly [K in keyof T]: T[K] extends readonly (infer One)[] ? One[] : T[K] };

/** How long a check can be read again, in milliseconds. */
const KEPT_MS = 7 * 86_400_000;
/** Values asked of the database in one statement. */
const SLICE = 1_000;

interface Named {
  readonly domain: string;
  /** What differs from the text; undefined where nothing does. */
  readonly differs: string | undefined;
}

/** A domain covers its www. and m. (docs/protocol/files.md#domains), so that they are one entry of a list. */
function named(text: string): Named | undefined {
  const whole = publisherDomain(text);
  if (whole === undefined) return undefined;
  const domain = siteOf(whole);
  if (domain !== whole) {
    const prefix = whole.slice(0, -domain.length);
    return { domain, differs: `the ${prefix} is covered by the domain` };
  }
  return { domain: whole, differs: text === whole ? undefined : "written as a domain" };
}

const sourceOf = ({ valid, hosted, property_count }: KnownDomainRow) => {
  if (valid === 1) return "adagents_json" as const;
  if (hosted === 1) return "hosted" as const;
  return property_count > 0 ? ("discovered" as const) : undefined;
};

function domainCheck(texts: readonly string[], known: ReadonlyMap<string, KnownDomainRow>, id: string): PropertyCheck {
  const lists: Filled<Pick<PropertyCheck, "remove" | "modify" | "assess" | "ok">> = {
    remove: [],
    modify: [],
    assess: [],
    ok: [],
  };
  const seen = new Set<string>();
  for (const input of texts) {
    const found = named(input);
    const canonical = found?.domain ?? input.trim();
    const row = known.get(canonical);
    const source = row && sourceOf(row);
    if (seen.has(canonical)) lists.remove.push({ input, canonical, reason: "duplicate" });
    else if (found?.differs !== undefined)
      lists.modify.push({ input, canonical, reason: found.differs, ...(source !== undefined && { source }) });
    else if (source === undefined) lists.assess.push({ domain: canonical });
    else lists.ok.push({ domain: canonical, source });
    seen.add(canonical);
  }
  const { remove, modify, assess, ok } = lists;
  const summary = {
    total: texts.length,
    remove: remove.length,
    modify: modify.length,
    assess: assess.length,
    ok: ok.length,
  };
  return { summary, ...lists, report_id: id };
}

interface Identified {
  readonly type: string;
  readonly value: string;
}

/** What a text names by itself: an address in a store, a domain, or else what applications are called by. */
function identified(text: string): Identified | undefined {
  const trimmed = text.trim();
  if (trimmed === "" || /\s/.test(trimmed)) return undefined;
  const inStore = storeIdentifier(trimmed);
  if (inStore !== undefined) return inStore;
  if (/^\d{6,}$/.test(trimmed)) return { type: "apple_app_store_id", value: trimmed };
  // com.news.app is written as a domain is, and is none: the name of a registry of names comes last there.
  if (/^(?:com|net|org|tv|io|co)\.[a-z0-9_-]+\./i.test(trimmed))
    return { type: "bundle_id", value: identifierValue(trimmed) };
  const domain = named(trimmed)?.domain;
  return domain === undefined
    ? { type: "bundle_id", value: identifierValue(trimmed) }
    : { type: "domain", value: domain };
}

interface Place extends Identified {
  readonly domain: string;
  readonly source: string;
  readonly valid: boolean;
  readonly key: string;
}

function placeOf({ value, place }: KnownValueRow): Place | undefined {
  if (place === null) return undefined;
  const [domain, type, source, said, ...key] = place.split(" ");
  return { value, domain: domain!, type: type!, source: source!, valid: said === "1", key: key.join(" ") };
}

const neither = { classification: null, source: null, property_rid: null } as const;

function verdictOn(input: string, identifier: Identified, row: KnownValueRow | undefined): CheckedIdentifier {
  const place = row && placeOf(row);
  if (row === undefined || place === undefined)
    return { input, identifier, verdict: "unknown", ...neither, action: "assess" };
  const ready = place.valid && place.source === "adagents_json";
  // Whose it is nobody can say for them where several publishers' own files name it.
  const several = ready ? row.valid : row.publishers;
  return {
    input,
    identifier: { type: place.type, value: place.value },
    verdict: ready ? "ready" : "known",
    classification: null,
    source: place.source,
    property_rid: propertyHandle(place.domain, place.key),
    action: several > 1 ? "disambiguate" : "none",
    publisher_domain: place.domain,
    ...(several > 1 && { publisher_count: several }),
  };
}

function identifierCheck(
  texts: readonly string[],
  known: ReadonlyMap<string, KnownValueRow>,
  id: string,
): IdentifierCheck {
  const summary = { total: texts.length, ready: 0, known: 0, ad_infra: 0, unknown: 0, skipped: 0 };
  const seen = new Set<string>();
  const entries = texts.map((input): CheckedIdentifier => {
    const found = identified(input);
    const skip = found === undefined || seen.has(found.value);
    const entry: CheckedIdentifier = skip
      ? {
          input,
          identifier: found ?? { type: "unknown", value: input.trim() },
          verdict: "skipped",
          ...neither,
          action: "remove",
        }
      : verdictOn(input, found, known.get(found.value));
    if (found !== undefined) seen.add(found.value);
    summary[entry.verdict] += 1;
    return entry;
  });
  return { summary, entries, report_id: id };
}

interface CheckDependencies {
  readonly db: Database;
  /** Unix milliseconds. */
  readonly now: () => number;
}

function slices<T>(all: readonly T[]): T[][] {
  return Array.from({ length: Math.ceil(all.length / SLICE) }, (_, at) => all.slice(at * SLICE, (at + 1) * SLICE));
}

export const checkedData = ({ db, now }: CheckDependencies): CheckedData => {
  const keep = async <T extends { readonly report_id: string }>(kind: string, report: T): Promise<T> => {
    const kept = { id: report.report_id, kind, body: JSON.stringify(report), expires: now() + KEPT_MS };
    await db.write((q) => keepReport(q, kept));
    return report;
  };
  const read = async <T>(kind: string, id: string): Promise<T | undefined> => {
    const body = await db.read((q) => keptReport(q, kind, id, now()));
    return body === undefined ? undefined : (JSON.parse(body) as T);
  };
  return {
    async checkDomains(texts) {
      const domains = [...new Set(texts.flatMap((text) => named(text)?.domain ?? []))];
      const known = new Map<string, KnownDomainRow>();
      for (const some of slices(domains))
        for (const row of await db.read((q) => knownDomains(q, some))) known.set(row.domain, row);
      return keep("domains", domainCheck(texts, known, randomUUID()));
    },
    async checkIdentifiers(texts) {
      const values = new Map(texts.flatMap((text) => identified(text) ?? []).map(({ type, value }) => [value, type]));
      const known = new Map<string, KnownValueRow>();
      for (const some of slices([...values])) {
        const [domains, others] = [true, false].map((domain) =>
          some.filter(([, type]) => (type === "domain") === domain).map(([value]) => value),
        );
        const rows = await db.read(function* (q): Coroutine<KnownValueRow[]> {
          return [...(yield* knownValues(q, domains!, true)), ...(yield* knownValues(q, others!, false))];
        });
        for (const row of rows) known.set(row.value, row);
      }
      return keep("identifiers", identifierCheck(texts, known, randomUUID()));
    },
    propertyCheck: (id) => read("domains", id),
    identifierCheck: (id) => read("identifiers", id),
  };
};
