/** The buyer of this project: which agent it calls, and what it does there, tool by tool. */
import path from "node:path";
import { type Buyer, createBuyer } from "adbind/buyer";
import { documentStore, openSqliteStore } from "adbind/store";
import { type BuyerFor, release } from "#bindings";

/** What this project takes on: every tool that it calls is there, or this does not compile. */
export type MyBuyer = BuyerFor<"SPECIALISM">;
type Tools = MyBuyer["tools"];

/** What is asked of each tool, in the order they are called; requests.json has an example of each. */
export interface Requests {
  readonly get_products: Parameters<Tools["get_products"]>[0];
}

/** How a call ended. */
export interface Done {
  readonly tool: keyof Requests;
  readonly status: string;
  readonly data: unknown;
}

/** Any of the tools, as all of them are called. */
type Call = (request: unknown) => Promise<{ waitForCompletion(): Promise<{ status: string; data: unknown }> }>;

/**
 * Calls each tool and waits for its end; one that did not do what it was asked for ends the run, and the rest is not called.
 * Look at what a call came to, and make the next request of it, where yours differ from run to run.
 */
export async function carryOut(buyer: MyBuyer, requests: Requests): Promise<readonly Done[]> {
  const done: Done[] = [];
  for (const tool of Object.keys(requests) as (keyof Requests)[]) {
    const called = await (buyer.tools[tool] as unknown as Call)(requests[tool]);
    const { status, data } = await called.waitForCompletion();
    done.push({ tool, status, data });
    if (status !== "completed") break;
  }
  return done;
}

export interface OpenedBuyer {
  readonly buyer: Buyer<typeof release>;
  close(): Promise<void>;
}

/** A buyer whose calls survive a crash: what it was about to do is kept in `folder` before it is done. */
export function openMyBuyer(agent: string, token: string | undefined, folder: string): OpenedBuyer {
  const store = openSqliteStore({ path: path.join(folder, "buyer.db") });
  const buyer = createBuyer({
    release,
    agent,
    intents: documentStore(store.database),
    // Plain http is for agents on this machine.
    allowLocal: agent.startsWith("http:"),
    ...(token !== undefined && { auth: { bearer: token } }),
  });
  return {
    buyer,
    async close() {
      await buyer.close();
      await store.close();
    },
  };
}
