/** `./run interop python --part calls`: our buyer before the official Python SDK's own server, line by line. */
import path from "node:path";
import type { Totals } from "../../../cli/closing-line.js";
import { type Buyer, createBuyer } from "../../../runtime/buyer/index.js";
import {
  type Failure,
  isJsonObject,
  type JsonObject,
  type TransportName,
  transportNames,
} from "../../../runtime/contract/index.js";
import { createGuardedFetch, type Fetcher } from "../../../runtime/net/index.js";
import type { Line } from "../matrix/answers.js";
import { matrixParts } from "../matrix/judge.js";
import { preparePython, servedByPython } from "../signing/python.js";

const TOKEN = "token-of-the-buyer-0123456789";

const served = <T>(line: string, job: (url: string) => Promise<T>): Promise<T> =>
  servedByPython(path.join(import.meta.dirname, "seller.py"), [line, TOKEN], job);

/** What went over the wire: a buyer can tell no more than the server has said. */
interface Exchanged {
  readonly request: string;
  readonly answer: string;
}

interface At {
  readonly line: Line;
  readonly wire: Exchanged[];
  /** Says what the server kept to itself, where its release has it say that: the buyer is then judged by what it makes of it. */
  note(text: string): void;
}

type Step = (buyer: Buyer, at: At) => Promise<string | undefined>;
type CallResult = Awaited<ReturnType<Buyer["call"]>>;

const recording = (wire: Exchanged[]): Fetcher => {
  const guarded = createGuardedFetch({ allowHttp: true, allowLoopback: true });
  const text = (bytes: Uint8Array | string | undefined): string =>
    typeof bytes === "object" ? new TextDecoder().decode(bytes) : (bytes ?? "");
  return async (url, request) => {
    const result = await guarded(url, request);
    wire.push({ request: text(request?.body), answer: result.ok ? text(result.body) : "" });
    return result;
  };
};

const told = ({ answer }: Pick<CallResult, "answer">): string => JSON.stringify(answer).slice(0, 300);

const idOf = ({ data }: CallResult["answer"]): unknown => (isJsonObject(data) ? data.media_buy_id : undefined);

const order = (product_id: string): JsonObject => ({
  packages: [{ product_id, budget: 100, pricing_option_id: "cpm" }],
});

const call =
  (tool: string, over: JsonObject = {}): Step =>
  async (buyer, { line }) => {
    const called = await buyer.call(tool, line.request(tool, over));
    return called.answer.status === "completed" ? undefined : told(called);
  };

const steps: Readonly<Record<string, Step>> = {
  async discover(buyer, { line }) {
    const negotiation = await buyer.negotiate();
    if (!negotiation.ok) return told(negotiation);
    return negotiation.negotiated.release === line.release
      ? undefined
      : `agreed on ${negotiation.negotiated.release.version}`;
  },
  list: async (buyer) => ((await buyer.listed()).includes("get_products") ? undefined : "get_products is not listed"),
  products: call("get_products"),
  buy: call("create_media_buy", order("display")),
  /** A repeated call is the first one, and is said to be, where the server says so. */
  async again(buyer, { line, wire, note }) {
    const request = line.request("create_media_buy", order("display"));
    const first = await buyer.call("create_media_buy", request);
    const before = wire.length;
    const second = await buyer.call("create_media_buy", { ...request, idempotency_key: first.idempotencyKey });
    if (idOf(first.answer) === undefined || idOf(first.answer) !== idOf(second.answer))
      return `another buy: ${told(second)}`;
    const said = wire.slice(before).some(({ answer }) => /\\?"replayed\\?": ?true/.test(answer));
    if (!said) note("the server repeats its answer without `replayed`");
    return second.replayed === said ? undefined : `replayed is ${second.replayed}: ${told(second)}`;
  },
  update: call("update_media_buy"),
  creative: call("sync_creatives"),
  delivery: call("get_media_buy_delivery"),
  /** An order to its end; where every question about it is refused, to the word that its end is not known. */
  async order(buyer, { line, wire, note }) {
    const called = await buyer.call("create_media_buy", line.request("create_media_buy", order("later")));
    if (called.answer.status !== "submitted") return told(called);
    const before = wire.length;
    const answer = await called.waitForCompletion({ signal: AbortSignal.timeout(20_000) });
    const polls = wire.slice(before).filter(({ request }) => request.includes(called.answer.taskId!));
    if (polls.length === 0) return `it was not asked what became of the order: ${told({ answer })}`;
    if (polls.some(({ answer }) => /\\?"task_type\\?":/.test(answer)))
      return answer.status === "completed" && idOf(answer) === "mb_1" ? undefined : told({ answer });
    note("the server tells of no task, under any of the names for asking");
    const [error] = answer.status === "failed" ? (answer.data as Failure).errors : [];
    const { status, task_id } = (error?.details ?? {}) as JsonObject;
    const honest = error?.code === "TASK_END_UNKNOWN" && status === "submitted" && task_id === called.answer.taskId;
    return honest ? undefined : told({ answer });
  },
  /** A release that the server does not have is refused before anything is asked for. */
  async refused(buyer, { line }) {
    const called = await buyer.call("create_media_buy", {
      [`${line.release.word}_version`]: "2.0",
      ...order("display"),
    });
    const [error] = called.answer.status === "failed" ? (called.answer.data as Failure).errors : [];
    return error === undefined ? told(called) : undefined;
  },
};

export async function judgeCalls(): Promise<Totals> {
  const totals = { passed: 0, failed: 0 };
  const missing = preparePython();
  if (missing !== undefined) {
    console.error(`the Python SDK cannot be had: ${missing}`);
    return { passed: 0, failed: 1 };
  }
  const { lines } = await matrixParts();
  const judge = async (line: Line, transport: TransportName, url: string): Promise<void> => {
    const agent = { url: transport === "mcp" ? `${url}/mcp` : url, transport };
    const { release } = line;
    const wire: Exchanged[] = [];
    const buyer = createBuyer({
      release,
      agent,
      allowLocal: true,
      fetch: recording(wire),
      retry: { attempts: 1 },
      timeoutMs: 20_000,
      auth: { bearer: TOKEN },
    });
    for (const [name, step] of Object.entries(steps)) {
      let noted = "";
      const note = (text: string): void => {
        noted = ` (${text})`;
      };
      const fault = await step(buyer, { line, wire, note }).catch((error: unknown) => String(error).slice(0, 300));
      if (fault === undefined) totals.passed++;
      else totals.failed++;
      console.log(
        `${fault === undefined ? "ok    " : "FAILED"} ${line.name} over ${transport}, ${name}${fault ? `: ${fault}` : noted}`,
      );
    }
    await buyer.close();
  };
  for (const line of lines)
    await served(line.name, async (url) => {
      for (const transport of transportNames) await judge(line, transport, url);
    });
  return totals;
}
