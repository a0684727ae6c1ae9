/** However its requests name it, an account is one: what is its own goes by one reference. */
import { isJsonObject, type JsonObject, type MaybePromise, type Release } from "../contract/index.js";

/** @returns the same for every reference to one account of a caller's, at whatever time */
export type NamesAccount = (
  account: JsonObject,
  of: { readonly principal: string; readonly release: Release },
) => MaybePromise<JsonObject>;

/** The account that a request names, by its one reference; it is looked for once, when somebody wants it. */
export function namedAccount(
  names: NamesAccount,
  { account }: JsonObject,
  of: Parameters<NamesAccount>[1],
): () => Promise<JsonObject | undefined> {
  let found: Promise<JsonObject | undefined> | undefined;
  const find = async () => (isJsonObject(account) ? names(account, of) : undefined);
  return () => {
    found ??= find();
    return found;
  };
}
