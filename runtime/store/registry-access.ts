/**
 * Who may use a registry. The statements are the same on both databases. Nothing here is on the way of a webhook, so
 * each call is a transaction of its own.
 */
import type { Database } from "../db/types.js";
import { expiringReports } from "./registry-checks.js";
import { type ColumnValue, type IssuerTable, issuerTable, type RunStatement } from "./registry-issuer.js";
import type { Expiring } from "./types.js";

/** An organization as it is kept. Times are unix milliseconds. */
export interface OrganizationRow {
  readonly id: string;
  readonly name: string;
  readonly tier: string | null;
  readonly subscription: string;
  readonly suspended: number;
  /** Unix milliseconds, as everywhere in this file. */
  readonly created: number;
}

/** A user as it is kept; the password is hashed. Times are unix milliseconds. */
export interface UserRow {
  readonly id: string;
  /** In lower case. */
  readonly email: string;
  readonly name: string;
  /** Digest with its own parameters and salt. */
  readonly password: string;
  readonly organization: string | null;
  readonly suspended: number;
  readonly created: number;
}

/** An organization's API key as it is kept: its hash, never itself. Times are unix milliseconds. */
export interface ApiKeyRow {
  readonly id: string;
  readonly organization: string;
  readonly name: string;
  /** SHA-256 of the key, hex. */
  readonly hash: string;
  /** The first characters, to tell keys apart. */
  readonly shown: string;
  readonly created: number;
  readonly last_used: number | null;
  readonly suspended: number;
  readonly revoked: number | null;
}

/** A key as a request needs it, and whose it is. */
export interface HeldKey {
  readonly key: Pick<ApiKeyRow, "id" | "last_used" | "suspended" | "revoked">;
  /** Undefined where it is gone. */
  readonly organization: OrganizationRow | undefined;
}

type HeldKeyRow = { readonly [Name in keyof HeldKey["key"] as `key_${Name}`]: HeldKey["key"][Name] } & {
  readonly [Name in keyof OrganizationRow]: OrganizationRow[Name] | null;
};

/** Who may use a registry: organizations, users, keys, what its issuer remembers. */
export interface RegistryAccess {
  readonly organizations: {
    add(row: OrganizationRow): Promise<boolean>;
    get(id: string): Promise<OrganizationRow | undefined>;
    list(): Promise<OrganizationRow[]>;
    set(
      id: string,
      change: Partial<Pick<OrganizationRow, "name" | "tier" | "subscription" | "suspended">>,
    ): Promise<boolean>;
  };
  readonly users: {
    /** False when the address is taken. */
    add(row: UserRow): Promise<boolean>;
    get(id: string): Promise<UserRow | undefined>;
    byEmail(email: string): Promise<UserRow | undefined>;
    list(): Promise<UserRow[]>;
    set(id: string, change: Partial<Pick<UserRow, "password" | "organization" | "suspended">>): Promise<boolean>;
  };
  readonly keys: {
    add(row: ApiKeyRow): Promise<boolean>;
    /** One question: each request with a key waits for it. */
    byHash(hash: string): Promise<HeldKey | undefined>;
    list(organization?: string): Promise<ApiKeyRow[]>;
    /** False when there is no such key, or it is revoked already. */
    revoke(id: string, now: number): Promise<boolean>;
    suspend(id: string, suspended: number): Promise<boolean>;
    used(id: string, now: number): Promise<void>;
  };
  readonly issuer: IssuerTable;
  /** The value kept under a name: `make`'s on first use, the same for every instance afterwards. */
  secret(name: string, make: () => Promise<string> | string, now: number): Promise<string>;
  /** Puts another value under a name; false when it is not `before` any more. */
  replaceSecret(name: string, before: string, after: string): Promise<boolean>;
  /** Counts one more request under a key; a window begins when the last one is over. */
  count(key: string, now: number, windowMs: number): Promise<{ count: number; resets: number }>;
  /** Resolves when the database answers. */
  ping(): Promise<void>;
  /** What expires, kind by kind. */
  readonly expiring: readonly Expiring[];
}

const statementsOn =
  (database: Database): RunStatement =>
  (text, values) =>
    /^select\b/.test(text) ? database.query((q) => q.rows(text, values)) : database.execute(text, values);

/** `insert ... on conflict do nothing`; true when the row is new. */
const inserter =
  (run: RunStatement) =>
  async (table: string, key: string, row: object): Promise<boolean> => {
    const columns = Object.keys(row);
    const text =
      `insert into ${table} (${columns.join(", ")}) values (${columns.map(() => "?").join(", ")}) ` +
      `on conflict do nothing returning ${key}`;
    return (await run(text, Object.values(row) as ColumnValue[])).length > 0;
  };

const updater =
  (run: RunStatement) =>
  async (table: string, id: string, change: object): Promise<boolean> => {
    const columns = Object.keys(change);
    if (columns.length === 0) return (await run(`select id from ${table} where id = ?`, [id])).length > 0;
    const text = `update ${table} set ${columns.map((column) => `${column} = ?`).join(", ")} where id = ? returning id`;
    return (await run(text, [...(Object.values(change) as ColumnValue[]), id])).length > 0;
  };

function heldKey({ key_id, key_last_used, key_suspended, key_revoked, ...organization }: HeldKeyRow): HeldKey {
  return {
    key: { id: key_id, last_used: key_last_used, suspended: key_suspended, revoked: key_revoked },
    organization: organization.id === null ? undefined : (organization as OrganizationRow),
  };
}

const removing = (run: RunStatement, what: string, text: string): Expiring => ({
  what,
  remove: async (now, limit) => (await run(text, [now, limit])).length,
});

const expiringOf = (database: Database, run: RunStatement): readonly Expiring[] => [
  expiringReports(database),
  removing(
    run,
    "rate counters that are over",
    "delete from adbind_rates where key in (select key from adbind_rates where resets <= ? order by resets limit ?) " +
      "returning key",
  ),
  removing(
    run,
    "expired tokens and sessions",
    "delete from adbind_issuer_state where (model, id) in (select model, id from adbind_issuer_state " +
      "where expires <= ? order by expires limit ?) returning id",
  ),
];

const tablesOf = (run: RunStatement) => ({
  run,
  insert: inserter(run),
  update: updater(run),
  one: async <Row>(text: string, value: string): Promise<Row | undefined> => (await run<Row>(text, [value]))[0],
});
type Tables = ReturnType<typeof tablesOf>;

const keyTable = ({ run, insert, update, one }: Tables): RegistryAccess["keys"] => ({
  add: (row) => insert("adbind_api_keys", "id", row),
  async byHash(hash) {
    const row = await one<HeldKeyRow>(
      "select k.id as key_id, k.last_used as key_last_used, k.suspended as key_suspended, k.revoked as key_revoked, o.* " +
        "from adbind_api_keys k left join adbind_organizations o on o.id = k.organization where k.hash = ?",
      hash,
    );
    return row && heldKey(row);
  },
  list: (organization) =>
    organization === undefined
      ? run("select * from adbind_api_keys order by created, id", [])
      : run("select * from adbind_api_keys where organization = ? order by created, id", [organization]),
  revoke: async (id, now) =>
    (await run("update adbind_api_keys set revoked = ? where id = ? and revoked is null returning id", [now, id]))
      .length > 0,
  suspend: (id, suspended) => update("adbind_api_keys", id, { suspended }),
  used: async (id, now) => void (await run("update adbind_api_keys set last_used = ? where id = ?", [now, id])),
});

const secretTable = ({ run, insert, one }: Tables): Pick<RegistryAccess, "secret" | "replaceSecret"> => ({
  async secret(name, make, now) {
    const known = await one<{ value: string }>("select value from adbind_secrets where name = ?", name);
    if (known !== undefined) return known.value;
    await insert("adbind_secrets", "name", { name, value: await make(), created: now });
    // Another instance may have been first: what the table holds is what counts.
    return (await one<{ value: string }>("select value from adbind_secrets where name = ?", name))!.value;
  },
  replaceSecret: async (name, before, after) =>
    (
      await run("update adbind_secrets set value = ? where name = ? and value = ? returning name", [
        after,
        name,
        before,
      ])
    ).length > 0,
});

/**
 * A window that ends later than the next one would was begun by a clock that was ahead, and set back since: it would last as long as
 * the clock was ahead. Clocks of instances may differ by a window.
 */
const RATE_IS_OVER = "(adbind_rates.resets <= ? or adbind_rates.resets > excluded.resets + ?)";

const rateCounter =
  (run: RunStatement): RegistryAccess["count"] =>
  async (key, now, windowMs) => {
    const rows = await run<{ count: number; resets: number }>(
      "insert into adbind_rates (key, count, resets) values (?, 1, ?) on conflict (key) do update set " +
        `count = case when ${RATE_IS_OVER} then 1 else adbind_rates.count + 1 end, ` +
        `resets = case when ${RATE_IS_OVER} then excluded.resets else adbind_rates.resets end ` +
        "returning count, resets",
      [key, now + windowMs, now, windowMs, now, windowMs],
    );
    return rows[0]!;
  };

/** @param database opened; its tables are there already */
export function registryAccess(database: Database): RegistryAccess {
  const run = statementsOn(database);
  const tables = tablesOf(run);
  const { insert, update, one } = tables;
  return {
    organizations: {
      add: (row) => insert("adbind_organizations", "id", row),
      get: (id) => one("select * from adbind_organizations where id = ?", id),
      list: () => run("select * from adbind_organizations order by created, id", []),
      set: (id, change) => update("adbind_organizations", id, change),
    },
    users: {
      add: (row) => insert("adbind_users", "id", row),
      get: (id) => one("select * from adbind_users where id = ?", id),
      byEmail: (email) => one("select * from adbind_users where email = ?", email.toLowerCase()),
      list: () => run("select * from adbind_users order by email", []),
      set: (id, change) => update("adbind_users", id, change),
    },
    keys: keyTable(tables),
    issuer: issuerTable(database, run),
    ...secretTable(tables),
    count: rateCounter(run),
    ping: async () => void (await run("select 1 as one", [])),
    expiring: expiringOf(database, run),
  };
}
