/**
 * A seller, a buyer or a receiver with the validator of the bindings named, judging one message each; then who asked for ajv.
 * Arguments: what to make, the folder of the bindings.
 */
import { registerHooks } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { tempFolder } from "../support/release.js";

const [, , what, bindings] = process.argv as [string, string, string, string];
const isAjv = (url: string): boolean => url.includes("/node_modules/ajv/");
const askers = new Set<string>();
registerHooks({
  resolve(specifier, context, next) {
    const found = next(specifier, context);
    if (isAjv(found.url) && context.parentURL !== undefined && !isAjv(context.parentURL)) askers.add(context.parentURL);
    return found;
  },
});

const load = async (file: string) => import(pathToFileURL(path.join(bindings, file)).href);
const { release } = await load("index.ts");
const { validator } = what === "compiled" ? { validator: undefined } : await load("validators/index.ts");

async function receiver(): Promise<unknown> {
  const { envelope, send, setup, SELLER } = await import("../support/receiver.js");
  const hooks = await setup({ ...(validator !== undefined && { validator }) });
  try {
    const task = { route: "/hooks/a", sender: SELLER, kind: "task", taskType: "create_media_buy" } as const;
    await hooks.receiver.expect({ ...task, operationId: "op-1" });
    const { status } = await send(hooks, envelope({ status: "working", result: { percentage: "some" } }));
    await hooks.receiver.idle();
    return [status, hooks.seen[0]?.notes.map(({ code }) => code)[0]];
  } finally {
    await hooks.close();
  }
}

async function seller(): Promise<unknown> {
  const [{ createSeller }, { openSqliteStore }, { newBench, sellerOptions }] = await Promise.all([
    import("../../runtime/seller/index.js"),
    import("../../runtime/store/index.js"),
    import("../seller/fixture.js"),
  ]);
  const store = openSqliteStore({ path: path.join(tempFolder(), "s.db") });
  const options = { ...sellerOptions(newBench()), release, store, validator };
  const made = await createSeller(options as never);
  try {
    const call = { tool: "get_products", args: { brief: 5 }, transport: "mcp", identity: { principal: "p" } };
    const { payload } = (await made.call(call as never)) as unknown as { payload: { errors: { code: string }[] } };
    return payload.errors[0]?.code;
  } finally {
    await made.close();
    await store.close();
  }
}

async function buyer(): Promise<unknown> {
  const { scene, order } = await import("../buyer/fixtures.js");
  const told: string[] = [];
  const onInvalid = ({ direction }: { direction: string }): void => void told.push(direction);
  const made = await scene({
    kind: "a2a 1.0",
    answer: () => ({ payload: { status: "completed", media_buy_id: 7 } }),
    buyer: { release, releases: [], validator, onInvalid } as never,
  });
  try {
    await made.buyer.tools.create_media_buy(order);
    return told;
  } finally {
    await made.close();
  }
}

const result = await { receiver, seller, buyer, compiled: receiver }[what]!();
console.log(JSON.stringify({ result, askers: [...askers].map((url) => url.replace(/^.*\/node_modules\//, "")) }));
process.exit();
