/** `get_task_status` and `list_tasks`: what the caller's own tasks have come to. */
import canonicalize from "canonicalize";
import {
  type AnyTool,
  isJsonObject,
  isTerminal,
  type JsonObject,
  type ProtocolError,
  type Release,
  type TaskStatus,
} from "../contract/index.js";
import type { Coroutine } from "../db/coroutine.js";
import type { SellerDatabase, TaskFilter, TaskPage } from "../store/seller-tables.js";
import type { SellerTaskRow } from "../store/seller-task.js";
import { pagePlace, readTasks } from "./task-pages.js";
import { ToolError } from "./tool-error.js";
import type { SellerContext, SellerHandler } from "./types.js";

const iso = (ms: number): string => new Date(ms).toISOString();
const parsed = (text: string | null): JsonObject | undefined => (text === null ? undefined : JSON.parse(text));
/** Most values that a filter names: more would be more than a statement takes. */
const MOST_VALUES = 100;

/** Releases without these tools have no schema that judges what is asked. */
const refusedAt = (field: string, message: string): ToolError => new ToolError("INVALID_REQUEST", message, { field });

/** What a filter names, each once, by either of its members. */
function named(filters: JsonObject, ...members: readonly string[]): string[] {
  const given = members.flatMap((member) => filters[member]).filter((value) => typeof value === "string");
  const values = [...new Set(given)];
  if (values.length <= MOST_VALUES) return values;
  throw refusedAt(`filters.${members.at(-1)}`, `At most ${MOST_VALUES} values are looked for at a time.`);
}

function timeIn(filters: JsonObject, member: string): number | undefined {
  const { [member]: value } = filters;
  if (typeof value !== "string") return undefined;
  const time = Date.parse(value);
  if (!Number.isNaN(time)) return time;
  throw refusedAt(`filters.${member}`, "This is no time: give one such as 2026-03-02T10:00:00Z.");
}

const taskRow = (row: SellerTaskRow) => ({
  task_id: row.task_id,
  task_type: row.tool,
  status: row.status,
  created_at: iso(row.created_at),
  updated_at: iso(row.updated_at),
  ...(row.completed_at !== null && { completed_at: iso(row.completed_at) }),
  has_webhook: row.has_webhook === 1,
});

const text = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

/** Releases with a rule for results of tasks that have ended show those of failed and rejected ones; others have an error there. */
const hasResult = ({ status, result }: SellerTaskRow, { results }: Release["facts"]): boolean =>
  status === "completed" ||
  (result !== null && status !== "canceled" && /task_result_resolution$/.test(results.terminal.from));

/** A task's state as `get_task_status` shows it. */
function taskStatus(row: SellerTaskRow, asked: JsonObject, { facts }: Release): JsonObject {
  const result = parsed(row.result);
  const status = row.status as TaskStatus;
  const [error] = Array.isArray(result?.errors) ? (result.errors as ProtocolError[]) : [];
  // Who does not ask for the result hears at least why the seller has declined.
  const reason = status === "rejected" && error === undefined ? text(result?.reason) : undefined;
  const message = row.message ?? reason;
  const progress = isTerminal(status) ? undefined : parsed(row.progress);
  return {
    ...taskRow(row),
    protocol: row.protocol,
    ...(message !== undefined && { message }),
    // Over MCP whoever answers a question says whose it is.
    ...(status === "input-required" && row.context_id === row.task_id && { context_id: row.context_id }),
    ...(progress !== undefined && Object.keys(progress).length > 0 && { progress }),
    ...(isTerminal(status) && status !== "completed" && error !== undefined && { error }),
    ...(asked.include_result === true && hasResult(row, facts) && { result: result ?? {} }),
    ...(asked.include_history === true && { history: historyOf(row, result) }),
  };
}

/** What was asked, and what came of it. */
function historyOf(row: SellerTaskRow, result: JsonObject | undefined) {
  const request = parsed(row.request) ?? {};
  return [
    { timestamp: iso(row.created_at), type: "request", data: request },
    ...(result === undefined ? [] : [{ timestamp: iso(row.updated_at), type: "response", data: result }]),
  ];
}

export interface TaskToolDependencies<Tx> {
  readonly database: SellerDatabase<Tx>;
}

/** Two references that cannot mean one account: a member that both have differs. What says nothing of it is no sandbox. */
function otherAccount(asked: unknown, kept: string | null): boolean {
  const own = parsed(kept);
  if (!isJsonObject(asked) || own === undefined) return false;
  const natural = [asked, own].every((one) => isJsonObject(one.brand));
  const sandbox = ({ sandbox = false }: JsonObject): unknown => sandbox;
  if (natural && sandbox(asked) !== sandbox(own)) return true;
  const both = Object.keys(asked).filter((name) => name !== "sandbox" && Object.hasOwn(own, name));
  return both.some((name) => canonicalize(asked[name]) !== canonicalize(own[name]));
}

/** @throws ToolError REFERENCE_NOT_FOUND; a task of another principal or account is no different from none */
export const getTaskStatus =
  <Tx>({ database }: TaskToolDependencies<Tx>): SellerHandler<AnyTool, Tx> =>
  async (request: JsonObject, ctx: SellerContext<AnyTool, Tx>) => {
    const { task_id: id } = request;
    if (typeof id !== "string") throw new ToolError("INVALID_REQUEST", "task_id is required", { field: "task_id" });
    const [row] = await database.transact({ principal: ctx.principal }, function* (tx): Coroutine<SellerTaskRow[]> {
      return yield* database.tables.task(tx, id);
    });
    if (row === undefined || row.principal !== ctx.principal || otherAccount(await ctx.accountNamed(), row.account)) {
      throw new ToolError("REFERENCE_NOT_FOUND", "There is no such task.", { field: "task_id" });
    }
    return ctx.complete(taskStatus(row, request, ctx.release));
  };

const PAGE = { default: 50, max: 100 } as const;
const orders: Readonly<Record<string, TaskPage["order"]>> = {
  created_at: "created_at",
  updated_at: "updated_at",
  status: "status",
  task_type: "tool",
  protocol: "protocol",
};

function filterOf(request: JsonObject, principal: string, account: JsonObject | undefined): TaskFilter {
  const filters = isJsonObject(request.filters) ? request.filters : {};
  const wanted = {
    protocol: named(filters, "protocol", "domain", "domains", "protocols"),
    status: named(filters, "status", "statuses"),
    tool: named(filters, "task_type", "task_types"),
    task_id: named(filters, "task_ids"),
  };
  const bounds = (side: "after" | "before") =>
    Object.fromEntries(
      (["created", "updated"] as const)
        .map((name) => [`${name}_at`, timeIn(filters, `${name}_${side}`)] as const)
        .filter(([, value]) => value !== undefined),
    );
  return {
    principal,
    ...(account !== undefined && { account: canonicalize(account) ?? "" }),
    in: Object.fromEntries(Object.entries(wanted).filter(([, list]) => list.length > 0)),
    after: bounds("after"),
    before: bounds("before"),
    ...(typeof filters.has_webhook === "boolean" && { hasWebhook: filters.has_webhook }),
    ...(typeof filters.context_contains === "string" && { contextContains: filters.context_contains }),
  };
}

function pageOf(request: JsonObject): TaskPage {
  const sort = isJsonObject(request.sort) ? request.sort : {};
  const pagination = isJsonObject(request.pagination) ? request.pagination : {};
  const { cursor, max_results: most } = pagination;
  if (typeof most === "number" && !Number.isInteger(most)) {
    throw refusedAt("pagination.max_results", `Give a whole number from 1 to ${PAGE.max}.`);
  }
  const field = typeof sort.field === "string" && Object.hasOwn(orders, sort.field) ? sort.field : "created_at";
  const order = { order: orders[field]!, descending: sort.direction !== "asc" };
  const after = typeof cursor === "string" ? pagePlace(cursor, order) : undefined;
  if (typeof cursor === "string" && after === undefined) {
    throw refusedAt("pagination.cursor", "The cursor is not one that was given here, for tasks in this order.");
  }
  return {
    ...order,
    after,
    limit: typeof most === "number" ? Math.min(Math.max(1, most), PAGE.max) : PAGE.default,
  };
}

export const listTasks =
  <Tx>({ database }: TaskToolDependencies<Tx>): SellerHandler<AnyTool, Tx> =>
  async (request: JsonObject, ctx: SellerContext<AnyTool, Tx>) => {
    const filter = filterOf(request, ctx.principal, await ctx.accountNamed());
    const page = pageOf(request);
    const { rows, counts, total, next } = await readTasks(database, filter, page);
    return ctx.complete({
      query_summary: {
        total_matching: total,
        returned: rows.length,
        status_breakdown: counts,
        filters_applied: isJsonObject(request.filters) ? Object.keys(request.filters) : [],
      },
      tasks: rows.map((row) => ({ ...taskRow(row), domain: row.protocol, protocol: row.protocol })),
      pagination: {
        has_more: next !== undefined,
        ...(next !== undefined && { cursor: next }),
        total_count: total,
      },
    });
  };
