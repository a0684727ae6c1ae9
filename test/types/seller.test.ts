/** What must not compile of a seller; see bindings.test.ts. At run time the file only proves that it loads. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { release } from "../../generated/3.1.0/index.js";
import { createSeller, type SellerHandler, type SellerOptions } from "../../runtime/seller/index.js";
import type { PostgresStore, SqliteStore } from "../../runtime/store/index.js";

type Tools = typeof release.tools;
type Options = SellerOptions<typeof release, "sales_guaranteed", SqliteStore>;

declare const getProducts: SellerHandler<Tools["get_products"]>;
declare const createMediaBuy: SellerHandler<Tools["create_media_buy"]>;
declare const rest: Omit<Options["tools"], "get_products" | "create_media_buy">;

/** Never called: the compiler reads it. */
export function tools(): void {
  const all: Options["tools"] = { ...rest, get_products: getProducts, create_media_buy: createMediaBuy };
  // @ts-expect-error an entry point of the specialism is missing
  const missing: Options["tools"] = { ...rest, get_products: getProducts };
  // @ts-expect-error a handler of another tool
  const swapped: Options["tools"] = { ...all, get_products: createMediaBuy };
  // @ts-expect-error a tool the release does not have
  const unknown: Options["tools"] = { ...all, drop_tables: () => undefined };
  // @ts-expect-error a specialism the release does not have
  type Nonsense = SellerOptions<typeof release, "sales_of_everything">;
  const none = undefined as unknown as Nonsense;
  [missing, swapped, unknown, none].length;
}

/** Never called: the compiler reads it. */
export const buying: SellerHandler<Tools["create_media_buy"]> = (request, ctx) => {
  const { idempotency_key: key } = request;
  key.length;
  // @ts-expect-error the key of a call may be absent
  ctx.idempotencyKey.length;
  if (key === "later") {
    return ctx.submitted({ message: "soon" }, async (task) => {
      await task.working({ percentage: 10 });
      // @ts-expect-error a percentage is a number
      await task.working({ percentage: "ten" });
      // @ts-expect-error an arm the tool does not have
      await task.paused();
      return ctx.fail({ code: "PRODUCT_NOT_FOUND", message: "gone" });
    });
  }
  // @ts-expect-error an error needs a message
  if (key === "bad") return ctx.fail({ code: "PRODUCT_NOT_FOUND" });
  // @ts-expect-error completed carries the tool's response
  if (key === "wrong") return ctx.complete({ media_buy_id: 7 });
  return ctx.complete({ media_buy_id: "mb", confirmed_at: null, packages: [], revision: 1 });
};

/** Never called: the compiler reads it. */
// @ts-expect-error a status the tool does not have
export const pausing: SellerHandler<Tools["create_media_buy"]> = () => ({ status: "paused", data: {} });

/** Never called: a tool that answers at once has no later arm. */
export const reading: SellerHandler<Tools["get_agent_capabilities"]> = (_request, ctx) => {
  // @ts-expect-error there is no submitted arm
  return ctx.submitted({ message: "later" });
};

/** Never called: the compiler infers everything from the options. */
export async function inferred(store: SqliteStore, shared: PostgresStore): Promise<void> {
  const base = { release, baseUrl: "https://seller.example", name: "Seller" } as const;
  const seller = await createSeller({
    ...base,
    specialisms: ["signal_owned"],
    store,
    tools: {
      get_signals: (request, ctx) => {
        const spec: string | undefined = request.signal_spec;
        ctx.effect((tx) => void tx.prepare("select 1").run());
        // @ts-expect-error a SQLite connection is no client of pg
        ctx.effect((tx) => tx.selectFrom("signals"));
        return ctx.complete({ signals: [], ...(spec !== undefined && { message: spec }) });
      },
    },
  });
  await seller.task<Tools["create_media_buy"]>("task").working({ percentage: 1 });
  await createSeller({
    ...base,
    specialisms: ["signal_owned"],
    store: shared,
    // @ts-expect-error the entry point get_signals is missing
    tools: {},
  });
  // @ts-expect-error a specialism the release does not have
  await createSeller({ ...base, specialisms: ["sales_of_everything"], store, tools: {} });
}

test("the module of types compiles and loads", () => {
  assert.is(release.version, "3.1.0");
});
test.run();
