/** Lists that buyers keep and sellers fetch: of properties, of collections. What the two have in common. */
import { createHash } from "node:crypto";
import type { JsonObject } from "../../contract/index.js";
import { ToolError } from "../../seller/tool-error.js";
import { type AccountRef, callersAccounts, resolveAccount, spendingAccount } from "../accounts/accounts.js";
import type { BehaviourCall } from "../frame/call.js";
import { collection } from "../frame/collection.js";
import { listPage, type PageWanted } from "../frame/page.js";
import { announce, follow } from "./changes.js";

export interface KeptList {
  readonly list_id: string;
  readonly name: string;
  readonly description?: string;
  /** Whose it is; absent where it was made for no account. */
  readonly account_id?: string;
  readonly brand?: object;
  readonly filters?: object;
  /** Where the list is drawn from; absent: from everything known. */
  readonly base?: readonly object[];
  readonly webhook_url?: string;
  readonly created_at: string;
  readonly updated_at: string;
  /** Digest of the token that its maker shares with sellers. */
  readonly token: string;
}

/** A sort of list. */
export interface Family {
  /** Also how its fields on the wire begin. */
  readonly noun: "property" | "collection";
  /** Field of the sources: `base_properties`. */
  readonly baseField: string;
  /** Field of the number of members: `property_count`. */
  readonly countField: string;
  /** Identities of its members, for what has changed. */
  members(call: BehaviourCall, list: KeptList): Promise<readonly string[]>;
}

/** A list as its request has it. */
export interface ListRequest {
  readonly account?: AccountRef;
  readonly name?: string;
  readonly description?: string;
  readonly brand?: object;
  readonly filters?: object;
  readonly webhook_url?: string;
  readonly [field: string]: unknown;
}

export interface ListNamed {
  readonly list_id: string;
  readonly account?: AccountRef;
}

export interface ListsWanted {
  readonly account?: AccountRef;
  readonly name_contains?: string;
  readonly pagination?: PageWanted;
}

/** How long a seller may go by what it fetched, in hours. */
const CACHE_HOURS = 24;

/** Members of one page, and at most: these lists are long. */
export const MEMBERS = { items: 1_000, most: 10_000 };

const keptOf = ({ noun }: Family) => collection<KeptList>(`${noun}_list`);

/**
 * @throws ToolError REFERENCE_NOT_FOUND, the same for a list of another account: errors tell nobody what there is, so none
 *   repeats the id
 */
export async function findList(
  call: BehaviourCall,
  family: Family,
  { list_id, account }: ListNamed,
): Promise<KeptList> {
  const found = await keptOf(family).get(call, call.principal, list_id);
  const owner = found?.account_id;
  const foreign =
    account !== undefined && owner !== undefined && (await resolveAccount(call, account)).account_id !== owner;
  if (found === undefined || foreign)
    throw new ToolError("REFERENCE_NOT_FOUND", `there is no such ${family.noun} list`, { field: "list_id" });
  return found;
}

/** A list as the wire has it. */
export async function shown(call: BehaviourCall, family: Family, list: KeptList): Promise<JsonObject> {
  const { token: _token, account_id, base, ...facts } = list;
  return {
    ...facts,
    ...(account_id !== undefined && { account: { account_id } }),
    ...(base !== undefined && { [family.baseField]: base }),
    cache_duration_hours: CACHE_HOURS,
    [family.countField]: (await family.members(call, list)).length,
  };
}

/** When what is fetched now is to be fetched again. */
export const resolution = ({ now, time }: BehaviourCall): JsonObject => ({
  resolved_at: time,
  cache_valid_until: new Date(now.getTime() + CACHE_HOURS * 3_600_000).toISOString(),
});

const given = (request: ListRequest, fields: readonly (keyof ListRequest & string)[]): JsonObject =>
  Object.fromEntries(fields.flatMap((field) => (request[field] === undefined ? [] : [[field, request[field]]])));

const baseIn = (family: Family, request: ListRequest): Pick<KeptList, "base"> => {
  const base = request[family.baseField] as readonly object[] | undefined;
  return base === undefined ? {} : { base };
};

/**
 * Whose a new list is: of the account that is named, else of the caller's only one; of nobody's in particular while he has none.
 * @throws ToolError ACCOUNT_REQUIRED, or ACCOUNT_AMBIGUOUS in older releases, for one of several that is not named
 */
async function ownerOfNew(call: BehaviourCall, { account }: ListRequest): Promise<string | undefined> {
  if (account !== undefined) return (await spendingAccount(call, account)).account_id;
  const [only, ...others] = await callersAccounts(call);
  if (others.length === 0) return only?.account_id;
  const code = call.shapes.knowsError("ACCOUNT_REQUIRED") ? "ACCOUNT_REQUIRED" : "ACCOUNT_AMBIGUOUS";
  throw new ToolError(code, "you have several accounts: say which of them the list is for", { field: "account" });
}

export async function createList(call: BehaviourCall, family: Family, request: ListRequest): Promise<JsonObject> {
  const auth_token = [call.id("lt"), call.ctx.uuid()].join("").replaceAll("-", "");
  const owner = await ownerOfNew(call, request);
  const list: KeptList = {
    list_id: call.id("list"),
    name: request.name ?? "",
    ...(owner !== undefined && { account_id: owner }),
    ...given(request, ["description", "brand", "filters"]),
    ...baseIn(family, request),
    created_at: call.time,
    updated_at: call.time,
    token: createHash("sha256").update(auth_token).digest("hex"),
  };
  keptOf(family).put(call, call.principal, list.list_id, list);
  return { list: await shown(call, family, list), auth_token };
}

/** What is sent replaces what was there, part by part; an empty address ends the notices. */
export async function updateList(
  call: BehaviourCall,
  family: Family,
  request: ListRequest & ListNamed,
): Promise<JsonObject> {
  const before = await findList(call, family, request);
  const { webhook_url: address, ...kept } = {
    ...before,
    ...given(request, ["name", "description", "brand", "filters", "webhook_url"]),
  };
  const after: KeptList = {
    ...kept,
    ...baseIn(family, request),
    ...(address !== undefined && address !== "" && { webhook_url: address }),
    updated_at: call.time,
  };
  keptOf(family).put(call, call.principal, after.list_id, after);
  if (request.webhook_url !== undefined) follow(call, after.list_id, request.webhook_url);
  if (after.webhook_url !== undefined) await announceChange(call, family, { before, after });
  return { list: await shown(call, family, after) };
}

async function announceChange(
  call: BehaviourCall,
  family: Family,
  { before, after }: { readonly before: KeptList; readonly after: KeptList },
): Promise<void> {
  const [old, own] = [new Set(await family.members(call, before)), new Set(await family.members(call, after))];
  announce(call, {
    noun: family.noun,
    listId: after.list_id,
    listName: after.name,
    added: [...own].filter((member) => !old.has(member)).length,
    removed: [...old].filter((member) => !own.has(member)).length,
    total: own.size,
    resolution: resolution(call),
  });
}

export async function deleteList(call: BehaviourCall, family: Family, request: ListNamed): Promise<JsonObject> {
  const { list_id, webhook_url } = await findList(call, family, request);
  if (webhook_url !== undefined) follow(call, list_id, "");
  keptOf(family).remove(call, call.principal, list_id);
  return { deleted: true, list_id };
}

/** The caller's lists, or those of one account; names are compared without case. */
export async function listLists(call: BehaviourCall, family: Family, request: ListsWanted): Promise<JsonObject> {
  const { account, name_contains: part = "", pagination: wanted } = request;
  const own = account === undefined ? undefined : (await resolveAccount(call, account)).account_id;
  const found = (await keptOf(family).list(call, call.principal)).filter(
    ({ account_id, name }) =>
      (own === undefined || own === account_id) && name.toLowerCase().includes(part.toLowerCase()),
  );
  const { items, pagination } = listPage(found, wanted, ({ list_id }) => list_id);
  return { lists: await Promise.all(items.map((list) => shown(call, family, list))), pagination };
}
