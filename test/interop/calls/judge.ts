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
import type { Line } from "../matrix/answers.js";
import { matrixParts } from "../matrix/judge.js";
import { preparePython, servedByPython } from "../signing/python.js";

const TOKEN = "token-of-the-buyer-0123456789";

const served = <T>(line: string, job: (url: string) => Promise<T>): Promise<T> =>
  servedByPython(path.join(import.meta.dirname, "seller.py"), [line, TOKEN], job);

type Step = (buyer: Buyer, line: Line) => Promise<string | undefined>;
type Called = Awaited<ReturnType<Buyer["call"]>>;

const told = ({ answer }: Pick<Called, "answer">): string => JSON.stringify(answer).slice(0, 300);

const order = (product_id: string): JsonObject => ({
  packages: [{ product_id, budget: 100, pricing_option_id: "cpm" }],
});

const call =
  (tool: string, over: JsonObject = {}): Step =>
  async (buyer, line) => {
    const called = await buyer.call(tool, line.request(tool, over));
    return called.answer.status === "completed" ? undefined : told(called);
  };

const steps: Readonly<Record<string, Step>> = {
  async discover(buyer, line) {
    const agreeing = await buyer.agreement();
    if (!agreeing.ok) return told(agreeing);
    return agreeing.agreement.release === line.release ? undefined : `agreed on ${agreeing.agreement.release.version}`;
  },
  list: async (buyer) => ((await buyer.listed()).includes("get_products") ? undefined : "get_products is not listed"),
  products: call("get_products"),
  buy: call("create_media_buy", order("display")),
  async again(buyer, line) {
    const request = line.request("create_media_buy", order("display"));
    const first = await buyer.call("create_media_buy", request);
    const second = await buyer.call("create_media_buy", { ...request, idempotency_key: first.idempotencyKey });
    return second.replayed ? undefined : `not replayed: ${told(second)}`;
  },
  update: call("update_media_buy"),
  creative: call("sync_creatives"),
  delivery: call("get_media_buy_delivery"),
  async order(buyer, line) {
    const called = await buyer.call("create_media_buy", line.request("create_media_buy", order("later")));
    if (called.answer.status !== "submitted") return told(called);
    const answer = await called.settled({ signal: AbortSignal.timeout(20_000) });
    const id = isJsonObject(answer.data) ? answer.data.media_buy_id : undefined;
    return answer.status === "completed" && id === "mb_1" ? undefined : told({ answer });
  },
  /** A release that the server does not have is refused before anything is asked for. */
  async refused(buyer, line) {
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
    const buyer = createBuyer({
      release,
      agent,
      allowLocal: true,
      retry: { attempts: 1 },
      timeoutMs: 20_000,
      auth: { bearer: TOKEN },
    });
    for (const [name, step] of Object.entries(steps)) {
      const fault = await step(buyer, line).catch((error: unknown) => String(error).slice(0, 300));
      if (fault === undefined) totals.passed++;
      else totals.failed++;
      console.log(
        `${fault === undefined ? "ok    " : "FAILED"} ${line.name} over ${transport}, ${name}${fault ? `: ${fault}` : ""}`,
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
