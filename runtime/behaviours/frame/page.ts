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
export const PAGE_SIZE = { items: 50, most: 100 };

/** How long pages are, and what is on them. */
export interface PageOptions<T> {
  readonly items: number;
  readonly most: number;
  /** What is listed; all by default. What a cursor names may be listed no longer, and the list goes on after it all the same. */
  readonly listed?: (item: T) => boolean;
}

/**
 * One page of `all`, which must be in a stable order; what comes and goes with the state it is in is told by `listed`.
 * @throws ToolError INVALID_REQUEST for a cursor this seller did not give
 */
export function listPage<T>(
  all: readonly T[],
  request: PageWanted | undefined,
  idOf: (item: T) => string,
  { items: usual, most, listed = () => true }: PageOptions<T> = PAGE_SIZE,
): ListedPage<T> {
  const wanted = Math.min(request?.max_results ?? usual, most);
  const start = request?.cursor === undefined ? 0 : after(all, request.cursor, idOf);
  const rest = all.slice(start).filter(listed);
  const items = rest.slice(0, wanted);
  const last = items.at(-1);
  const more = items.length < rest.length && last !== undefined;
  return {
    items,
    most: wanted,
    pagination: {
      has_more: more,
      ...(more && { cursor: Buffer.from(idOf(last)).toString("base64url") }),
      total_count: all.filter(listed).length,
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
