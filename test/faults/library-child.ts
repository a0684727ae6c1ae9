/** A seller of the library's behaviours, to be killed: its orders run at an ad server elsewhere. It carries nothing on itself. */
import { pino } from "pino";
import { release } from "../../generated/3.1.0/index.js";
import { type AdServer, type Booking, type Order, openSeller } from "../../runtime/behaviours/index.js";
import { ToolError, tokenAuth } from "../../runtime/seller/index.js";

const [database = "", adServerUrl = "", epoch = "0", buyers = "[]"] = process.argv.slice(2);
/** A minute goes by in two seconds: a dead owner's lease ends while somebody waits. */
const SPEED = 30;
/** When the run began: sellers share a clock. */
const began = Number(epoch);

async function tell(kind: string, order: Order, key: string, more: object = {}): Promise<Booking> {
  const body = JSON.stringify({ kind, key, order, ...more });
  const answer = await fetch(adServerUrl, { method: "POST", body });
  const said = (await answer.json()) as Booking & { reason?: string };
  if (answer.status === 409) throw new ToolError("PRODUCT_UNAVAILABLE", said.reason ?? "refused");
  if (!answer.ok) throw new Error(`the ad server answers ${answer.status}`);
  return said;
}

const changing =
  (kind: string): AdServer["change"] =>
  async ({ orderId }, order, { idempotencyKey }) =>
    void (await tell(kind, order, idempotencyKey, { orderId }));

const adServer: AdServer = {
  patienceMs: 300,
  book: (order, { idempotencyKey }) => tell("book", order, idempotencyKey),
  change: changing("change"),
  pause: changing("pause"),
  resume: changing("resume"),
  cancel: changing("cancel"),
};

const tokens = Object.fromEntries((JSON.parse(buyers) as string[]).map((name) => [`token-of-${name}`, name]));
const seller = await openSeller({
  release,
  specialisms: ["sales_guaranteed"],
  database,
  baseUrl: "http://127.0.0.1",
  name: "A seller to be killed",
  // Answers of ours that break the release are faults.
  mode: "development",
  auth: tokenAuth({ tokens }),
  limits: { calls: false, inFlightWaitMs: 1_500 },
  now: () => began + (Date.now() - began) * SPEED,
  // What the ad server does not answer is a warning; there is nothing but that here.
  logger: pino({ level: "error" }, pino.destination(2)),
  ports: { adServer },
});
process.stdout.write(`${await seller.start({ port: 0, host: "127.0.0.1" })}\n`);
// Whoever started it is gone: nothing is left behind.
process.stdin.once("end", () => process.exit()).resume();
