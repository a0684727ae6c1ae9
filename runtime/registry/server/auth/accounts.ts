/** Organizations, users and API keys, as who runs a registry makes and ends them. */
import { createHash, randomBytes, randomUUID } from "node:crypto";
import { AdbindError } from "../../../errors.js";
import type { ApiKeyRow, OrganizationRow, RegistryAccess, UserRow } from "../../../store/index.js";
import { hashPassword } from "./passwords.js";

/** Tiers of membership, and whether they include API access (docs/protocol/registry.md#operator-lookup). */
export const tiers = {
  individual_professional: { apiAccess: true },
  individual_academic: { apiAccess: false },
  company_standard: { apiAccess: true },
  company_icl: { apiAccess: true },
  company_leader: { apiAccess: true },
} as const satisfies Record<string, { apiAccess: boolean }>;

/** A tier of membership. */
export type Tier = keyof typeof tiers;

/** States of a subscription; a tier counts in the first three. */
export const subscriptions = ["active", "past_due", "trialing", "canceled", "none"] as const;
/** A state of an organization's subscription. */
export type Subscription = (typeof subscriptions)[number];
const live: ReadonlySet<string> = new Set(["active", "past_due", "trialing"]);

/** Does an organization's membership let it see what is for members only? */
export const hasApiAccess = ({ tier, subscription }: Pick<OrganizationRow, "tier" | "subscription">): boolean =>
  tier !== null && live.has(subscription) && Object.hasOwn(tiers, tier) && tiers[tier as Tier].apiAccess;

export const KEY_PREFIX = "sk_";
const KEY_BYTES = 32;
/** Characters of a key that are kept in the clear: enough to tell keys apart, 48 of 256 bits. */
const SHOWN_CHARACTERS = KEY_PREFIX.length + 8;
/** NIST SP 800-63B-4 3.1.1.2: at least 15 characters where a password is all there is. */
const PASSWORD_CHARACTERS = 15;

export const hashKey = (key: string): string => createHash("sha256").update(key).digest("hex");

const bad = (what: string, remedy: string): AdbindError => new AdbindError("account_invalid", what, { remedy });

const named = (name: string, what: string): string => {
  const trimmed = name.trim();
  if (trimmed === "" || trimmed.length > 200) throw bad(`${what} has no usable name`, "give 1 to 200 characters");
  return trimmed;
};

/** An organization to be made. */
export interface NewOrganization {
  /** Letters, digits, `-` and `_`; default a random one. */
  readonly id?: string;
  readonly name: string;
  readonly tier?: string;
  /** Default `active` with a tier, `none` without. */
  readonly subscription?: string;
}

/** A user to be made; the password is hashed at once. */
export interface NewUser {
  readonly email: string;
  readonly password: string;
  readonly name?: string;
  readonly organization?: string;
}

/** What is shown of a key; the key itself only when it is made. */
export type KeyInfo = Omit<ApiKeyRow, "hash">;

/** Organizations, users and API keys of a registry. */
export interface Accounts {
  addOrganization(given: NewOrganization): Promise<OrganizationRow>;
  setOrganization(
    id: string,
    change: { name?: string; tier?: string | null; subscription?: string; suspended?: boolean },
  ): Promise<void>;
  organizations(): Promise<OrganizationRow[]>;
  addUser(given: NewUser): Promise<Omit<UserRow, "password">>;
  /** With a new password every log-in, access token and refresh token of the user ends. */
  setUser(email: string, change: { password?: string; organization?: string; suspended?: boolean }): Promise<void>;
  users(): Promise<Omit<UserRow, "password">[]>;
  /** `key` is not kept and cannot be shown again. */
  addKey(organization: string, name: string): Promise<KeyInfo & { readonly key: string }>;
  keys(organization?: string): Promise<KeyInfo[]>;
  /** False when there is no such key, or it is revoked already. */
  revokeKey(id: string): Promise<boolean>;
  suspendKey(id: string, suspended: boolean): Promise<boolean>;
}

function checkedTier(tier: string | null | undefined): void {
  if (tier != null && !Object.hasOwn(tiers, tier))
    throw bad(`${tier} is no tier`, `give one of ${Object.keys(tiers).join(", ")}`);
}

function checkedSubscription(subscription: string | undefined): void {
  if (subscription !== undefined && !(subscriptions as readonly string[]).includes(subscription))
    throw bad(`${subscription} is no state of a subscription`, `give one of ${subscriptions.join(", ")}`);
}

function checkedPassword(password: string): void {
  if ([...password].length < PASSWORD_CHARACTERS || password.length > 1_000)
    throw bad("the password is too short or too long", `give ${PASSWORD_CHARACTERS} to 1,000 characters`);
}

const withoutPassword = ({ password: _, ...user }: UserRow): Omit<UserRow, "password"> => user;
const withoutHash = ({ hash: _, ...key }: ApiKeyRow): KeyInfo => key;

/** What an account of either kind belongs to, and what is looked for in it. */
interface AccountsDependencies {
  readonly access: RegistryAccess;
  /** Clock in unix milliseconds. */
  readonly now: () => number;
}

const needOrganization = async ({ access }: AccountsDependencies, id: string): Promise<void> => {
  if ((await access.organizations.get(id)) === undefined)
    throw bad(`there is no organization ${id}`, "see adbind registry orgs list");
};

const needUser = async ({ access }: AccountsDependencies, email: string): Promise<UserRow> => {
  const user = await access.users.byEmail(email);
  if (user === undefined) throw bad(`there is no user ${email}`, "see adbind registry users list");
  return user;
};

function organizationsOf(
  dependencies: AccountsDependencies,
): Pick<Accounts, "addOrganization" | "setOrganization" | "organizations"> {
  const { access, now } = dependencies;
  return {
    async addOrganization({ id = randomUUID(), name, tier, subscription }) {
      if (!/^[A-Za-z0-9_-]{1,100}$/.test(id)) throw bad(`${id} is no identifier`, "use letters, digits, - and _");
      checkedTier(tier);
      checkedSubscription(subscription);
      const row: OrganizationRow = {
        id,
        name: named(name, "the organization"),
        tier: tier ?? null,
        subscription: subscription ?? (tier === undefined ? "none" : "active"),
        suspended: 0,
        created: now(),
      };
      if (!(await access.organizations.add(row)))
        throw bad(`there is an organization ${id} already`, "choose another id");
      return row;
    },
    async setOrganization(id, { suspended, ...change }) {
      checkedTier(change.tier);
      checkedSubscription(change.subscription);
      await needOrganization(dependencies, id);
      await access.organizations.set(id, {
        ...change,
        ...(suspended !== undefined && { suspended: Number(suspended) }),
      });
    },
    organizations: () => access.organizations.list(),
  };
}

function usersOf(dependencies: AccountsDependencies): Pick<Accounts, "addUser" | "setUser" | "users"> {
  const { access, now } = dependencies;
  return {
    async addUser({ email, password, name, organization }) {
      const address = email.trim().toLowerCase();
      if (!/^[^\s@]+@[^\s@]+$/.test(address) || address.length > 320)
        throw bad(`${email} is no mail address`, "give one");
      checkedPassword(password);
      if (organization !== undefined) await needOrganization(dependencies, organization);
      const row: UserRow = {
        id: randomUUID(),
        email: address,
        name: named(name ?? address, "the user"),
        password: await hashPassword(password),
        organization: organization ?? null,
        suspended: 0,
        created: now(),
      };
      if (!(await access.users.add(row))) throw bad(`${address} has an account already`, "change that one");
      return withoutPassword(row);
    },
    async setUser(email, { password, organization, suspended }) {
      const user = await needUser(dependencies, email);
      if (password !== undefined) checkedPassword(password);
      if (organization !== undefined) await needOrganization(dependencies, organization);
      await access.users.set(user.id, {
        ...(password !== undefined && { password: await hashPassword(password) }),
        ...(organization !== undefined && { organization }),
        ...(suspended !== undefined && { suspended: Number(suspended) }),
      });
      // Who knew the one before is logged in no more, and has no token that is good or can be renewed.
      if (password !== undefined) await access.issuer.removeAccount(user.id);
    },
    users: async () => (await access.users.list()).map(withoutPassword),
  };
}

function keysOf(dependencies: AccountsDependencies): Pick<Accounts, "addKey" | "keys" | "revokeKey" | "suspendKey"> {
  const { access, now } = dependencies;
  return {
    async addKey(organization, name) {
      await needOrganization(dependencies, organization);
      const key = KEY_PREFIX + randomBytes(KEY_BYTES).toString("base64url");
      const row: ApiKeyRow = {
        id: randomUUID(),
        organization,
        name: named(name, "the key"),
        hash: hashKey(key),
        shown: key.slice(0, SHOWN_CHARACTERS),
        created: now(),
        last_used: null,
        suspended: 0,
        revoked: null,
      };
      await access.keys.add(row);
      return { ...withoutHash(row), key };
    },
    keys: async (organization) => (await access.keys.list(organization)).map(withoutHash),
    revokeKey: (id) => access.keys.revoke(id, now()),
    suspendKey: (id, suspended) => access.keys.suspend(id, Number(suspended)),
  };
}

/**
 * @param access of an opened store
 * @param now clock in unix milliseconds
 * @throws AdbindError `account_invalid` from its functions, for names, tiers, addresses or passwords that cannot be used
 */
export function accountsOf(access: RegistryAccess, now: () => number = Date.now): Accounts {
  const dependencies = { access, now };
  return { ...organizationsOf(dependencies), ...usersOf(dependencies), ...keysOf(dependencies) };
}
