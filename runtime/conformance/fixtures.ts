/** What a storyboard starts from: prepared by the test controller, or found among what the seller has (`fixture_resolution`). */
import { isJsonObject, type JsonObject } from "../contract/index.js";
import { isFailedAnswer } from "./agent/outcome.js";
import type { AgentAnswer } from "./agent/types.js";
import {
  accountOf,
  type FixtureRow,
  fixtureRows,
  type Seeding,
  type SeedOutcome,
  sandboxAccount,
  seedRow,
} from "./controller.js";
import type { Storyboard } from "./document.js";
import { ClauseError, clausesOf, firstByBytes, matches } from "./fixture-matching.js";
import { fieldAt } from "./paths.js";

/** Pages of a seller's products that are read: a list without an end must not hold the run. */
const MAX_PAGES = 50;
const PAGE = 50;

/** What stands for a handle of the storyboard: the seller's own ids, by the names of their fields. */
export interface FixtureBinding {
  /** `product_id`, or the product's and the option's. */
  readonly handle: Readonly<Record<string, string>>;
  readonly bound: Readonly<Record<string, string>>;
}

export interface FixturesFound extends SeedOutcome {
  /** Handles that stand for entities of other names. */
  readonly bindings?: readonly FixtureBinding[];
}

interface Entry {
  readonly strategies: readonly string[];
  readonly match: ReturnType<typeof clausesOf>;
  readonly reuse: boolean;
}

/** How a row may be had; by seeding alone where nothing is said. */
function entryOf({ kind, row }: FixtureRow, { fixture_resolution: table }: Storyboard): Entry {
  const rows = table?.[kind.list];
  const found = (Array.isArray(rows) ? rows.filter(isJsonObject) : []).find(
    ({ handle, product_handle: product }) =>
      handle === row[kind.ids.at(-1)!] && (product === undefined || product === row.product_id),
  );
  const listed = Array.isArray(found?.strategies) ? found.strategies.map(String) : ["seed"];
  return { strategies: listed, match: clausesOf(found?.match), reuse: found?.allow_reuse === true };
}

type Products =
  | { readonly ok: true; readonly products: readonly JsonObject[] }
  | { readonly ok: false; answer: AgentAnswer };

/** Everything that the seller sells, page by page. */
async function everyProduct(storyboard: Storyboard, { session, answered }: Seeding): Promise<Products> {
  const products: JsonObject[] = [];
  let cursor: unknown;
  for (let page = 0; page < MAX_PAGES; page++) {
    const pagination = { max_results: PAGE, ...(typeof cursor === "string" && { cursor }) };
    const account = sandboxAccount(accountOf(storyboard));
    const answer = await session.call("get_products", { buying_mode: "wholesale", account, pagination });
    const rows = answer.payload?.products;
    if (isFailedAnswer(answer, answered) || !Array.isArray(rows)) return { ok: false, answer };
    products.push(...rows.filter(isJsonObject));
    cursor = fieldAt(answer.payload, "pagination.cursor");
    if (fieldAt(answer.payload, "pagination.has_more") !== true) return { ok: true, products };
    if (typeof cursor !== "string") return { ok: false, answer };
  }
  return { ok: true, products };
}

const optionsOf = (product: JsonObject | undefined): JsonObject[] =>
  Array.isArray(product?.pricing_options) ? product.pricing_options.filter(isJsonObject) : [];

/** Finds and prepares the fixtures of one storyboard. */
class Resolving {
  readonly bindings: FixtureBinding[] = [];
  private readonly taken = new Set<string>();
  private offered: Products | undefined;

  constructor(
    private readonly storyboard: Storyboard,
    private readonly seeding: Seeding,
    /** Whether the agent has a test controller at all. */
    private readonly controlled: boolean,
  ) {}

  private productFor(handle: unknown): string {
    const known = this.bindings.find(
      ({ handle: named }) => named.product_id === handle && !("pricing_option_id" in named),
    );
    return known?.bound.product_id ?? String(handle);
  }

  private pick(row: FixtureRow, { match, reuse }: Entry, products: readonly JsonObject[]): FixtureBinding | undefined {
    const { product_id: product, pricing_option_id: option } = row.row;
    const free = (key: string): boolean => reuse || !this.taken.has(key);
    if (row.kind.list === "products") {
      const fit = products.filter((one) => matches(one, match) && free(String(one.product_id)));
      const found = firstByBytes(fit, (one) => String(one.product_id));
      if (found === undefined) return undefined;
      this.taken.add(String(found.product_id));
      return { handle: { product_id: String(product) }, bound: { product_id: String(found.product_id) } };
    }
    if (row.kind.list !== "pricing_options") return undefined;
    const own = this.productFor(product);
    const key = (one: JsonObject): string => `${own}\0${one.pricing_option_id}`;
    const fit = optionsOf(products.find((one) => one.product_id === own));
    const found = firstByBytes(
      fit.filter((one) => matches(one, match) && free(key(one))),
      key,
    );
    if (found === undefined) return undefined;
    this.taken.add(key(found));
    return {
      handle: { product_id: String(product), pricing_option_id: String(option) },
      bound: { product_id: own, pricing_option_id: String(found.pricing_option_id) },
    };
  }

  /** @returns undefined where it was had, or what ends the storyboard */
  async row(row: FixtureRow): Promise<SeedOutcome | undefined> {
    const entry = entryOf(row, this.storyboard);
    const named = row.kind.ids.map((id) => row.row[id]).join("/");
    const tried: string[] = [];
    for (const strategy of entry.strategies) {
      if (strategy === "seed") {
        const outcome: SeedOutcome = this.controlled
          ? await seedRow(row, this.storyboard, this.seeding)
          : { skip: { reason: "missing_test_controller", detail: "there is no test controller" } };
        if (outcome.failed !== undefined) return outcome;
        if (outcome.skip === undefined) return undefined;
        tried.push(`seed: ${outcome.skip.detail}`);
      } else if (strategy === "discover") {
        this.offered ??= await everyProduct(this.storyboard, this.seeding);
        if (!this.offered.ok) {
          const problem = `${named} could not be looked for: get_products did not answer with a whole list`;
          return { failed: { answer: this.offered.answer, problem } };
        }
        const found = this.pick(row, entry, this.offered.products);
        if (found !== undefined) {
          this.bindings.push(found);
          return undefined;
        }
        tried.push("discover: nothing that the agent sells fits");
      } else tried.push(`${strategy}: no such way is specified for ${row.kind.list}`);
    }
    return { skip: { reason: "fixture_unsatisfied", detail: `${named}: ${tried.join("; ")}` } };
  }
}

/** Has what a storyboard starts from, in the ways that it allows. */
export async function resolveFixtures(
  storyboard: Storyboard,
  seeding: Seeding,
  controlled: boolean,
): Promise<FixturesFound> {
  const resolving = new Resolving(storyboard, seeding, controlled);
  try {
    for (const row of fixtureRows(storyboard)) {
      const ended = await resolving.row(row);
      if (ended !== undefined) return ended;
    }
  } catch (error) {
    if (!(error instanceof ClauseError)) throw error;
    return { skip: { reason: "fixture_unavailable", detail: error.message } };
  }
  return { bindings: resolving.bindings };
}

/**
 * A request with handles of the storyboard taken for what stands for them, in fields that the release says name such an entity.
 * An option's handle is read beside the product it belongs to.
 */
export function withBindings(
  request: JsonObject,
  bindings: readonly FixtureBinding[],
  names: (field: string, entity: string) => boolean,
): JsonObject {
  if (bindings.length === 0) return request;
  const products = new Map(
    bindings
      .filter(({ handle }) => !("pricing_option_id" in handle))
      .map(({ handle, bound }) => [handle.product_id, bound.product_id]),
  );
  const option = (handle: string, product: string | undefined): string | undefined => {
    const fit = bindings.filter(
      (one) => one.handle.pricing_option_id === handle && (product === undefined || one.handle.product_id === product),
    );
    return fit.length === 1 || product !== undefined ? fit[0]?.bound.pricing_option_id : undefined;
  };
  const walk = (value: unknown, product: string | undefined): unknown => {
    if (Array.isArray(value)) return value.map((one) => walk(one, product));
    if (!isJsonObject(value)) return value;
    const own = typeof value.product_id === "string" ? value.product_id : product;
    return Object.fromEntries(
      Object.entries(value).map(([key, one]) => {
        const swap = (text: unknown): unknown => {
          if (typeof text !== "string") return walk(text, own);
          if (names(key, "product")) return products.get(text) ?? text;
          if (names(key, "product_pricing_option")) return option(text, own) ?? text;
          return text;
        };
        return [key, Array.isArray(one) ? one.map(swap) : swap(one)];
      }),
    );
  };
  return walk(request, undefined) as JsonObject;
}
