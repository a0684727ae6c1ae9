/** Checks of buyers' storyboards, by name: what was called, with what, when, and how webhooks were answered. */
import type { JsonObject } from "../../contract/index.js";
import { sentences } from "../checks/answers.js";
import { type CheckFinding, failed, notApplicable, passed } from "../checks/types.js";
import type { StoryboardCheck } from "../document.js";
import { isSame } from "../equality.js";
import { fieldAt, pointerOfPath, valuesAt } from "../paths.js";
import { requestChecks } from "./request-checks.js";
import type { BuyerCheck, BuyerView, SeenCall } from "./types.js";

/** The tools that ask for a task, over the releases. */
export const isPoll = (tool: string): boolean => /^(get_task_status|tasks[_/]get)$/.test(tool);

const taskOf = ({ task }: StoryboardCheck, view: BuyerView): string =>
  typeof task === "string" ? task : view.step.task;

const callsOf = (tool: string, { seen }: BuyerView): readonly SeenCall[] =>
  seen.calls.filter((call) => call.tool === tool);

const countOf = (value: unknown): number | undefined => (typeof value === "number" ? value : undefined);

const keyed = (calls: readonly SeenCall[]): string[] => [
  ...new Set(calls.map(({ args }, index) => String(args.idempotency_key ?? `call ${index}`))),
];

/** Calls under one key are one. */
const taskCalls: BuyerCheck = (check, view) => {
  const task = taskOf(check, view);
  const keys = keyed(callsOf(task, view));
  const [min = 0, max = Number.POSITIVE_INFINITY] = [countOf(check.min), countOf(check.max)];
  if (keys.length >= min && keys.length <= max) return passed();
  return failed("", { task, min, ...(Number.isFinite(max) && { max }) }, { calls: keys.length, keys });
};

const sentOnce: BuyerCheck = (check, view) => {
  const calls = callsOf(taskOf(check, view), view);
  return calls.length <= 1 ? passed() : failed("", "one request", `${calls.length} requests`);
};

const plain = ({ idempotency_key: _, context: _context, ...rest }: JsonObject): JsonObject => rest;

const sameKey: BuyerCheck = (check, view) => {
  const [first, ...again] = callsOf(taskOf(check, view), view);
  if (first === undefined || again.length === 0) return failed("", "the request again", "it was not sent again");
  const other = again.find(({ args }) => args.idempotency_key !== first.args.idempotency_key);
  if (other !== undefined)
    return failed(
      "/idempotency_key",
      first.args.idempotency_key,
      other.args.idempotency_key,
      "a new key is a new order",
    );
  const changed = again.find(({ args }) => !isSame(plain(args), plain(first.args)));
  return changed === undefined ? passed() : failed("", plain(first.args), plain(changed.args));
};

/** Milliseconds that clocks and timers may be apart by. */
const SLACK_MS = 50;

const retryDelay: BuyerCheck = (check, view) => {
  const calls = callsOf(taskOf(check, view), view);
  const refused = calls.findIndex(({ scenario }) => scenario?.error_code !== undefined);
  const [before, after] = [calls[refused], calls[refused + 1]];
  if (before === undefined || after === undefined) return failed("", "the request again", "it was not sent again");
  const waited = (after.at - before.at) / 1000;
  const least = countOf(check.min_seconds) ?? 0;
  return after.at - before.at + SLACK_MS >= least * 1000
    ? passed()
    : failed("", { seconds: least }, { seconds: waited }, "it came again before the seller had asked for it");
};

const polls = (view: BuyerView, task?: unknown): readonly SeenCall[] =>
  view.seen.calls.filter(({ tool, args }) => isPoll(tool) && (task === undefined || args.task_id === task));

/** Requests that a buyer who is in no loop keeps below. */
const MANY = 20;

const handled: Readonly<Record<string, (view: BuyerView) => CheckFinding>> = {
  submitted: (view) => {
    const task = view.call?.answer?.task_id;
    if (task === undefined) return failed("", "an order that is answered with submitted", view.call?.answer);
    const asked = polls(view, task).length > 0;
    const told = view.seen.webhooks.some(({ as, status = 0 }) => as === "genuine" && status >= 200 && status < 300);
    const waits = view.call?.args.push_notification_config !== undefined;
    return asked || told || waits ? passed() : failed("/task_id", "a poll of the task, or a webhook for it", "neither");
  },
  error: (view) => {
    if (view.seen.broken !== undefined) return failed("", "the buyer goes on", view.seen.broken);
    const calls = callsOf(view.step.task, view);
    const conflict = view.call?.scenario?.error_code === "IDEMPOTENCY_CONFLICT";
    const again = calls[calls.indexOf(view.call!) + 1];
    if (conflict && again !== undefined && again.args.idempotency_key === view.call?.args.idempotency_key)
      return failed("/idempotency_key", "another key", again.args.idempotency_key);
    return calls.length <= MANY ? passed() : failed("", `at most ${MANY} requests`, `${calls.length} requests`);
  },
  sync: (view) =>
    polls(view).length === 0 ? passed() : failed("", "no poll: the order was answered in full", polls(view).length),
};

const responseHandled: BuyerCheck = (check, view) => {
  const kind = String(check.response_type).replace("synchronous", "sync");
  const judge = Object.hasOwn(handled, kind) ? handled[kind] : undefined;
  if (judge === undefined) return { outcome: "not_graded", note: `no response_type ${kind} is known` };
  return view.call === undefined ? failed("", `a call of ${view.step.task}`, "none") : judge(view);
};

const firstEnd = ({ seen }: BuyerView): number | undefined => [...seen.ended.values()].sort((a, b) => a - b)[0];

const endLearned: BuyerCheck = (_check, view) =>
  firstEnd(view) === undefined
    ? failed(
        "",
        "a poll or a webhook that tells the end",
        { polls: polls(view).length },
        "the task was left before its end",
      )
    : passed();

const notBeforeEnd: BuyerCheck = (check, view) => {
  const end = firstEnd(view) ?? Number.POSITIVE_INFINITY;
  const early = callsOf(taskOf(check, view), view).find(({ at }) => at < end);
  if (early === undefined) return passed();
  return failed("", "nothing before the end was told", { task: early.tool, request: early.args });
};

const pollingStops: BuyerCheck = (check, view) => {
  const most = countOf(check.max) ?? 0;
  const late = polls(view).filter(({ args, at }) => at > (view.seen.ended.get(String(args.task_id)) ?? at));
  return late.length <= most
    ? passed()
    : failed("", { polls_after_the_end: most }, { polls_after_the_end: late.length });
};

const notCalledBefore: BuyerCheck = (check, view) => {
  const { task, before } = check;
  const order = view.seen.calls.map(({ tool }) => tool);
  const [first, gate] = [order.indexOf(String(task)), order.indexOf(String(before))];
  return first < 0 || (gate >= 0 && gate < first) ? passed() : failed("", { first: before }, { first: task });
};

const good = ({ status = 0 }: { status: number | undefined }): boolean => status >= 200 && status < 300;

const webhooksRegistered: BuyerCheck = (_check, { call }) =>
  fieldAt(call?.args, "push_notification_config.url") === undefined
    ? failed("/push_notification_config/url", "where webhooks go", null)
    : passed();

const webhooksTaken: BuyerCheck = (_check, { seen }) => {
  const ours = seen.webhooks.filter(({ as }) => as === "genuine" || as === "duplicate" || as === "late");
  if (ours.length === 0) return failed("", "webhooks that could be sent", "none could");
  const refused = ours.find((one) => !good(one));
  return refused === undefined
    ? passed()
    : failed("", { as: refused.as, status: "2xx" }, { status: refused.status ?? "no answer", said: refused.said });
};

const forgeriesRefused: BuyerCheck = (_check, { seen }) => {
  const forged = seen.webhooks.filter(({ as }) => !["genuine", "duplicate", "late", "captured"].includes(as));
  const believed = forged.filter(good).map(({ as }) => as);
  if (forged.length === 0) return failed("", "webhooks that could be sent", "none could");
  return believed.length === 0 ? passed() : failed("", "each is refused", { answered_with_2xx: believed });
};

const outputOf = ({ seen }: BuyerView): CheckFinding | undefined =>
  seen.output === undefined
    ? notApplicable("the buyer gives no result: only one that is started by --start does")
    : undefined;

/** A field anywhere in what the buyer gave. */
const holds = (value: unknown, name: string): boolean => {
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(value).some(([key, one]) => key === name || holds(one, name));
};

const outputContains: BuyerCheck = (check, view) =>
  outputOf(view) ??
  (holds(view.seen.output, String(check.field)) ? passed() : failed("", { field: check.field }, view.seen.output));

const outputFieldPresent: BuyerCheck = (check, view) => {
  const path = check.path ?? "";
  const found = valuesAt(view.seen.output, path).filter(({ value }) => value !== null);
  return outputOf(view) ?? (found.length > 0 ? passed() : failed(pointerOfPath(path), "a value", view.seen.output));
};

const taskCalled: BuyerCheck = (check, view) =>
  callsOf(taskOf(check, view), view).length > 0 ? passed() : failed("", { called: taskOf(check, view) }, "it was not");

const requestSchema: BuyerCheck = (_check, { call, schemas }) => {
  const errors = call && schemas.request(call.tool, call.args);
  if (errors === undefined) return passed();
  return failed(errors[0]?.pointer ?? "", "a request that the release takes", call?.args, sentences(errors));
};

const genuine: BuyerCheck = (check, { call, seen }) => {
  const path = check.path ?? "media_buy_id";
  const value = fieldAt(call?.args, path);
  const inAnswer = (answer: unknown): unknown => fieldAt(answer, path) ?? fieldAt(answer, `result.${path}`);
  // What a change of the order is answered with repeats what was asked.
  const told = seen.calls.filter((one) => one.tool !== call?.tool).map(({ answer }) => inAnswer(answer));
  const sent = seen.webhooks.filter(({ as }) => as === "genuine").map(({ body }) => inAnswer(body));
  const known = [...new Set([...told, ...sent].filter((one) => one !== undefined))] as unknown[];
  return known.some((one) => isSame(one, value)) ? passed() : failed(pointerOfPath(path), { one_of: known }, value);
};

const kinds: Readonly<Record<string, BuyerCheck>> = {
  ...requestChecks,
  request_schema: requestSchema,
  request_field_genuine: genuine,
  retry_delay: retryDelay,
  response_handled: responseHandled,
  task_called: taskCalled,
  task_not_called_before: notCalledBefore,
  output_contains: outputContains,
  output_field_present: outputFieldPresent,
  task_calls: taskCalls,
  sent_once: sentOnce,
  same_key: sameKey,
  end_learned: endLearned,
  not_before_end: notBeforeEnd,
  polling_stops: pollingStops,
  webhooks_registered: webhooksRegistered,
  webhooks_taken: webhooksTaken,
  forgeries_refused: forgeriesRefused,
};

/** Undefined for a kind that this runner does not know. */
export const buyerCheck = (kind: string): BuyerCheck | undefined =>
  Object.hasOwn(kinds, kind) ? kinds[kind] : undefined;

/** Checks of what was not done hold too where nothing was. */
export const holdsWithoutCall: ReadonlySet<string> = new Set(["task_calls", "task_not_called_before"]);
