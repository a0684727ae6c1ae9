/** Pages of a list: a cursor names the last item that was given, so that items added meanwhile are neither lost nor repeated. */
import { ToolError } from "../../seller/tool-error.js";

export interface PageWanted {
  /** Items wanted. */
  readonly max_results?: number;
  readonly cursor?: string;
}

export interface ListedPage<T> {
  readonly items: T[];
  /** Most items that the page could have. */
  readonly most: number;
  /** As the wire has it. */
  readonly pagination: { has_more: boolean; cursor?: string; total_count: number };
}

/** Items of a page where the request does not say, and at most. */
const SIZE = { items: 50, most: 100 };

/**
 * One page of `all`, which must be in a stable order.
 * @throws ToolError INVALID_REQUEST for a cursor this seller did not give
 */
export function listPage<T>(
  all: readonly T[],
  request: PageWanted | undefined,
  idOf: (item: T) => string,
  size = SIZE,
): ListedPage<T> {
  const wanted = Math.min(request?.max_results ?? size.items, size.most);
  const start = request?.cursor === undefined ? 0 : after(all, request.cursor, idOf);
  const items = all.slice(start, start + wanted);
  const last = items.at(-1);
  const more = start + items.length < all.length && last !== undefined;
  return {
    items,
    most: wanted,
    pagination: {
      has_more: more,
      ...(more && { cursor: Buffer.from(idOf(last)).toString("base64url") }),
      total_count: all.length,
    },
  };
}

function after<T>(all: readonly T[], cursor: string, idOf: (item: T) => string): number {
  const id = Buffer.from(cursor, "base64url").toString();
  const index = all.findIndex((item) => idOf(item) === id);
  if (index < 0)
    throw new ToolError("INVALID_REQUEST", "the cursor is not one this seller gave, or its item is gone", {
      field: "pagination.cursor",
    });
  return index + 1;
}
