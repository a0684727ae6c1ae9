/** Lists that buyers keep and sellers fetch: of properties, of collections. What the two have in common. */
import { createHash } from "node:crypto";
import type { JsonObject } from "adbind/contract";
import { ToolError } from "adbind/seller";
import type { Call } from "../../handler.js";
import { type PageRequest, page } from "../../page.js";
import { type AccountRef, resolveAccount } from "../accounts/accounts.js";
import { announce, follow } from "./changes.js";

export interface KeptList {
  readonly list_id: string;
  readonly name: string;
  readonly description?: string;
  readonly account?: AccountRef;
  /** Whose it is; empty where it was made for no account. */
  readonly account_id: string;
  readonly brand?: object;
  readonly filters?: object;
  /** Where the list is drawn from; absent: from everything known. */
  readonly base?: readonly object[];
  readonly webhook_url?: string;
  readonly created_at: string;
  readonly updated_at: string;
  /** Digest of the token that lets a seller fetch it. */
  readonly token: string;
}

/** A sort of list. */
export interface Family {
  /** `property` or `collection`: also how its fields on the wire begin. */
  readonly noun: "property" | "collection";
  /** Field of the sources: `base_properties`. */
  readonly baseField: string;
  /** Field of the number of members: `property_count`. */
  readonly countField: string;
  /** Identities of its members, for what has changed. */
  members(call: Call, list: KeptList): readonly string[];
}

/** How long a seller may go by what it fetched, in hours. */
export const CACHE_HOURS = 24;

const kindOf = ({ noun }: Family): string => `${noun}_list`;

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

/**
 * @throws ToolError REFERENCE_NOT_FOUND, the same for a list of another account: errors tell nobody what there is, so
 *   none repeats the id
 */
export function listOf(call: Call, family: Family, request: { list_id: string; account?: AccountRef }): KeptList {
  const found = call.documents.get<KeptList>(kindOf(family), call.principal, request.list_id);
  const foreign =
    request.account !== undefined &&
    found !== undefined &&
    found.account_id !== "" &&
    resolveAccount(call, request.account).account_id !== found.account_id;
  if (found === undefined || foreign) {
    throw new ToolError("REFERENCE_NOT_FOUND", `there is no such ${family.noun} list`, {
      field: "list_id",
    });
  }
  return found;
}

/** A list as the wire has it. */
export function shown(call: Call, family: Family, list: KeptList): JsonObject {
  const { token: _token, account_id: _account, base, ...facts } = list;
  return {
    ...facts,
    ...(base !== undefined && { [family.baseField]: base }),
    cache_duration_hours: CACHE_HOURS,
    [family.countField]: family.members(call, list).length,
  };
}

/** When what is fetched now is to be fetched again. */
export const resolution = (call: Call): JsonObject => ({
  resolved_at: call.now.toISOString(),
  cache_valid_until: new Date(call.now.getTime() + CACHE_HOURS * 3_600_000).toISOString(),
});

const given = <K extends string>(request: ListRequest, fields: readonly K[]): JsonObject =>
  Object.fromEntries(fields.flatMap((field) => (request[field] === undefined ? [] : [[field, request[field]]])));

export function createList(call: Call, family: Family, request: ListRequest): JsonObject {
  const auth_token = [call.id("lt"), call.ctx.uuid()].join("").replaceAll("-", "");
  const at = call.now.toISOString();
  const base = request[family.baseField] as readonly object[] | undefined;
  const list: KeptList = {
    list_id: call.id("list"),
    name: request.name ?? "",
    account_id: request.account === undefined ? "" : resolveAccount(call, request.account).account_id,
    ...given(request, ["account", "description", "brand", "filters"]),
    ...(base !== undefined && { base }),
    created_at: at,
    updated_at: at,
    token: createHash("sha256").update(auth_token).digest("hex"),
  };
  call.documents.put(kindOf(family), call.principal, list.list_id, list);
  return { list: shown(call, family, list), auth_token };
}

/** What is sent replaces what was there, part by part; an empty address ends the notices. */
export function updateList(call: Call, family: Family, request: ListRequest & { list_id: string }): JsonObject {
  const before = listOf(call, family, request);
  const base = request[family.baseField] as readonly object[] | undefined;
  const { webhook_url: address, ...kept } = {
    ...before,
    ...given(request, ["name", "description", "brand", "filters", "webhook_url"]),
  };
  const after: KeptList = {
    ...(kept as Omit<KeptList, "webhook_url">),
    ...(base !== undefined && { base }),
    ...(typeof address === "string" && address !== "" && { webhook_url: address }),
    updated_at: call.now.toISOString(),
  };
  call.documents.put(kindOf(family), call.principal, after.list_id, after);
  if (request.webhook_url !== undefined) follow(call, after.list_id, request.webhook_url);
  if (after.webhook_url !== undefined) {
    const [old, own] = [new Set(family.members(call, before)), new Set(family.members(call, after))];
    announce(call, {
      noun: family.noun,
      listId: after.list_id,
      listName: after.name,
      added: [...own].filter((member) => !old.has(member)).length,
      removed: [...old].filter((member) => !own.has(member)).length,
      total: own.size,
      ...resolution(call),
    });
  }
  return { list: shown(call, family, after) };
}

export function deleteList(call: Call, family: Family, request: { list_id: string; account?: AccountRef }): JsonObject {
  const { list_id, webhook_url } = listOf(call, family, request);
  if (webhook_url !== undefined) follow(call, list_id, "");
  call.documents.remove(kindOf(family), call.principal, list_id);
  return { deleted: true, list_id };
}

/** The caller's lists, or those of one account; names are compared without case. */
export function listLists(
  call: Call,
  family: Family,
  request: { account?: AccountRef; name_contains?: string; pagination?: PageRequest },
): JsonObject {
  const own = request.account === undefined ? undefined : resolveAccount(call, request.account).account_id;
  const part = request.name_contains?.toLowerCase() ?? "";
  const found = call.documents
    .list<KeptList>(kindOf(family), call.principal)
    .filter(({ account_id, name }) => (own === undefined || own === account_id) && name.toLowerCase().includes(part));
  const { items, pagination } = page(found, request.pagination, ({ list_id }) => list_id);
  return { lists: items.map((list) => shown(call, family, list)), pagination };
}
