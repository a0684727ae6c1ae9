/** A seller's upkeep, a call that takes its time, and what behaviours carry on. */
import { generateKeyPairSync } from "node:crypto";
import { release } from "../../../generated/3.1.0/index.js";
import { openSeller } from "../../../runtime/behaviours/index.js";
import type { Logger } from "../../../runtime/log.js";
import { type Telling, tellLog } from "../../../runtime/queue/periodic.js";
import { type Claimed, claimKey } from "../../../runtime/seller/idempotency.js";
import { type LaterOptions, LaterRuns } from "../../../runtime/seller/later-work.js";
import { sellerUpkeep } from "../../../runtime/seller/upkeep.js";
import { callScope } from "../../../runtime/store/keys.js";
import { sellerDatabase } from "../../../runtime/store/seller-tables.js";
import { NOW } from "../../sender/fixture.js";
import { type AnyStore, type Breach, execute, type Kind, restarted, rows, soon, type World } from "./world.js";

const keys = "remove idempotency keys that are remembered no longer";
const answers = "remove answers that are replayed no longer";
export const tasks = "remove expired tasks";
const changes = "remove old changes of accounts";

export const seller: World = {
  name: "seller",
  kinds: [
    { step: keys, table: "adbind_calls", where: `forget_at <= ${NOW}` },
    { step: answers, table: "adbind_calls", where: "answer is not null" },
    { step: tasks, table: "adbind_seller_tasks" },
    { step: changes, table: "adbind_account_changes" },
  ],
  breaches: [
    { table: "adbind_calls", how: "delete", fails: [keys] },
    { table: "adbind_calls", how: "update", fails: [answers] },
    { table: "adbind_calls", how: "gone", fails: [keys, answers] },
    { table: "adbind_seller_tasks", how: "delete", fails: [tasks] },
    { table: "adbind_seller_tasks", how: "gone", fails: [tasks] },
    { table: "adbind_account_changes", how: "delete", fails: [changes] },
    { table: "adbind_account_changes", how: "gone", fails: [changes] },
  ],
  fill: (store) =>
    rows(store, [
      `insert into adbind_calls values ('s', 'old', 'h', null, 0, null, 0, 1, null)`,
      `insert into adbind_calls values ('s', 'answered', 'h', null, 0, '{}', 1, ${NOW + 1}, null) on conflict (scope, key) do update set answer = '{}'`,
      "insert into adbind_seller_tasks (task_id, principal, tool, protocol, release, status, created_at, updated_at, " +
        "has_webhook, expires) values ('t', 'p', 'x', 'y', '3.1.0', 'completed', 0, 0, 0, 1)",
      "insert into adbind_account_changes (account, seq, change_id, resource_type, body, expires) values ('a', 1, 'c', 'r', '{}', 1)",
    ]),
  start: async (store, logger) =>
    restarted(sellerUpkeep(sellerDatabase<unknown>(store.database), { now: () => NOW, logger })),
};

const renewal = "keep hold of an idempotency key";
/** Until when something is held that is not renewed yet, unix milliseconds. */
const MARK = 1;

/** A seller's database in which nothing is renewed before the gate opens: what is broken is broken by then. */
function gated(store: AnyStore) {
  const database = sellerDatabase<unknown>(store.database);
  let gate: Promise<void> | undefined;
  let open = (): void => undefined;
  const transact: typeof database.transact = async (of, work) => {
    await gate;
    return database.transact(of, work);
  };
  const close = (): void => {
    ({ promise: gate, resolve: open } = Promise.withResolvers<void>());
  };
  return { database: { ...database, transact }, close, open: () => open() };
}

interface CallUnderWay {
  telling?: Telling;
  readonly claimed: Claimed<unknown>;
  readonly renew: () => void;
}

const underWay = new WeakMap<AnyStore, CallUnderWay>();

/** Its claim is made before anything is broken: the same statement that renews it would not let it begin. */
export const call: World = {
  name: "call under way",
  kinds: [{ step: renewal, table: "adbind_calls", where: `lease = ${MARK}` }],
  breaches: [
    { table: "adbind_calls", how: "update", fails: [renewal] },
    { table: "adbind_calls", how: "gone", fails: [renewal] },
  ],
  async fill(store) {
    await execute(store, `delete from adbind_calls where scope = '${callScope("p")}'`);
    const held: { telling?: Telling } = {};
    const telling: Telling = {
      failed: (fault, message) => held.telling?.failed(fault, message),
      recovered: (step, failures) => held.telling?.recovered(step, failures),
    };
    const { database, close, open } = gated(store);
    const options = { database, now: () => NOW, uuid: () => "me", replayMs: 1, waitMs: 0, telling, renewMs: 5 };
    const claimed = await claimKey(options, { principal: "p", key: "k", hash: "h" });
    close();
    await execute(store, `update adbind_calls set lease = ${MARK} where scope = '${callScope("p")}'`);
    underWay.set(store, Object.assign(held, { claimed, renew: open }));
  },
  async start(store, log) {
    const made = underWay.get(store)!;
    made.telling = tellLog(log);
    made.renew();
    return { ...soon, stop: async () => made.claimed.kind === "mine" && made.claimed.claim.stop() };
  },
};

const takeUp = "take up the tasks of processes that are gone";
const keepHold = "keep hold of a task";

const insertTask = (id: string, { worker, until }: { readonly worker: string; readonly until: number }): string =>
  "insert into adbind_seller_tasks (task_id, principal, tool, protocol, release, status, created_at, updated_at, has_webhook, expires, worker, " +
  `held_until) values ('${id}', 'p', 'create_media_buy', 'x', '3.1.0', 'submitted', 0, 0, 0, ${NOW * 2}, '${worker}', ${until})`;

const runsOf = (
  database: ReturnType<typeof sellerDatabase<unknown>>,
  logger: Logger,
  options: LaterOptions = {},
): LaterRuns<unknown> =>
  new LaterRuns<unknown>(
    {
      database,
      settings: { now: () => NOW, logger, resume: async () => undefined },
      servedReleases: [{ release }],
    } as never,
    options,
  );

export const abandoned: World = {
  name: "seller whose work another takes up",
  kinds: [{ step: takeUp, table: "adbind_seller_tasks", where: "held_until is not null" }],
  breaches: [
    { table: "adbind_seller_tasks", how: "update", fails: [takeUp] },
    { table: "adbind_seller_tasks", how: "gone", fails: [takeUp] },
  ],
  fill: (store) =>
    rows(store, ["delete from adbind_seller_tasks", insertTask("abandoned", { worker: "gone", until: 1 })]),
  start: async (store, logger) => restarted(runsOf(sellerDatabase<unknown>(store.database), logger).resuming),
};

interface WorkUnderWay {
  readonly renew: () => void;
  logger?: Logger;
  readonly runs: LaterRuns<unknown>;
  end(): void;
}

const working = new WeakMap<AnyStore, WorkUnderWay>();

/** Its work began before anything is broken: the statement that renews it would not let it begin. */
export const atWork: World = {
  name: "work of a task under way",
  kinds: [{ step: keepHold, table: "adbind_seller_tasks", where: `held_until = ${MARK}` }],
  breaches: [
    { table: "adbind_seller_tasks", how: "update", fails: [keepHold] },
    { table: "adbind_seller_tasks", how: "gone", fails: [keepHold] },
  ],
  async fill(store) {
    const held: { logger?: Logger } = {};
    const logger = {
      error: (of: object, message: string) => held.logger?.error(of, message),
      info: (of: object, message: string) => held.logger?.info(of, message),
    };
    const { database, close, open } = gated(store);
    const runs = runsOf(database, logger as Logger, { renewMs: 5 });
    const { promise, resolve } = Promise.withResolvers<undefined>();
    const tool = release.tools.create_media_buy as never;
    const run = runs.later({ taskId: "at work", principal: "p", tool, work: () => promise });
    const { worker } = run.hold;
    await rows(store, ["delete from adbind_seller_tasks", insertTask("at work", { worker, until: MARK })]);
    close();
    working.set(store, Object.assign(held, { renew: open, runs, end: () => resolve(undefined) }));
    run.begin();
  },
  async start(store, log) {
    const made = working.get(store)!;
    made.logger = log;
    made.renew();
    const stop = async (): Promise<void> => {
      made.end();
      await made.runs.close();
    };
    return { ...soon, stop };
  },
};

const carriedOn = (area: string): string => `carry on what ${area} left unfinished`;
const buys = carriedOn("media-buys");
const leaves = carriedOn("transformers");
const rights = carriedOn("brands");
const talks = carriedOn("sponsored-intelligence");
const areas = [buys, leaves, rights, talks];

/** What is written is told by its collection. */
const written = (how: "update" | "delete", collection: string, fails: string): Breach => ({
  table: "adbind_documents",
  how,
  when: `old.collection = '${collection}'`,
  fails: [fails],
});

const document = (step: string, collection: string, more = ""): Kind => ({
  step,
  table: "adbind_documents",
  where: `collection = '${collection}'${more}`,
});

/** The first of two buyers by name: what cannot be done for the one is no reason to leave out the other. */
const FIRST = "anna";
const OTHER = "bert";
const ofOther = (collection: string, more = ""): Omit<Kind, "step"> => ({
  table: "adbind_documents",
  where: `owner = '${OTHER}' and collection = '${collection}'${more}`,
});

const documents: Readonly<Record<string, object>> = {
  ad_server_news: { media_buy_id: "i" },
  ad_server_finished: { key: "i", state: "done", due: 1, writes: [], release: "3.1.0" },
  build_variant: { build_variant_id: "i", made_at: "2020-01-01T00:00:00Z" },
  rights_grant: {
    grant_id: "i",
    offering_id: "none",
    brand_id: "b",
    state: "pending",
    terms: { uses: [] },
    credentials: [],
  },
  si_session: { session_id: "i", state: "active", user: {}, said: [], shown: [], last_at: "2020-01-01T00:00:00Z" },
  si_offering_shown: { token: "i", expires_at: "2020-01-01T00:00:00Z" },
};

const signingKey = (kid: string) => ({ ...generateKeyPairSync("ed25519").privateKey.export({ format: "jwk" }), kid });

export const behaviours: World = {
  name: "seller of behaviours",
  kinds: [
    document(buys, "ad_server_news"),
    document(buys, "ad_server_finished"),
    document(leaves, "build_variant"),
    document(rights, "rights_grant", " and body like '%pending%'"),
    document(talks, "si_session", " and body like '%active%'"),
  ],
  breaches: [
    written("delete", "ad_server_news", buys),
    written("delete", "ad_server_finished", buys),
    written("delete", "build_variant", leaves),
    written("update", "rights_grant", rights),
    written("update", "si_session", talks),
    {
      ...({
        table: "adbind_documents",
        how: "delete",
        when: `old.owner = '${FIRST}'`,
        fails: [buys, leaves, talks],
      } as const),
      done: ["ad_server_news", "ad_server_finished", "build_variant"].map((collection) => ofOther(collection)),
    },
    {
      ...({
        table: "adbind_documents",
        how: "update",
        when: `old.owner = '${FIRST}'`,
        fails: [rights, talks],
      } as const),
      done: [ofOther("rights_grant", " and body like '%pending%'"), ofOther("si_session", " and body like '%active%'")],
    },
    { table: "adbind_documents", how: "gone", fails: areas },
  ],
  fill: (store) =>
    rows(store, [
      "delete from adbind_documents",
      ...Object.entries(documents).flatMap(([collection, body]) =>
        [FIRST, OTHER].map(
          (owner) =>
            "insert into adbind_documents (collection, owner, id, version, body) values " +
            `('${collection}', '${owner}', 'i', 1, '${JSON.stringify(body)}')`,
        ),
      ),
    ]),
  async start(store, logger) {
    const made = await openSeller({
      release,
      specialisms: [],
      with: ["media-buys", "transformers", "brands", "sponsored-intelligence"],
      database: store,
      baseUrl: "http://127.0.0.1",
      name: "Upkept",
      mode: "development",
      key: signingKey("webhooks"),
      responseKey: signingKey("responses"),
      logger,
    });
    await made.start({ port: 0 });
    return { ...soon, stop: () => made.close() };
  },
};
