/** Events, arrivals and registrations as tests need them. */
import { createHash, randomUUID } from "node:crypto";
import type { Arrival, NewEvent, Registration } from "../../../runtime/store/types.js";

export const NOW = 1_776_520_800_000;
export const DAY_SECONDS = 86_400;
export const SELLER = "https://seller.example/agent";

export const newEvent = (over: Partial<NewEvent> = {}): NewEvent => ({
  sender: SELLER,
  key: randomUUID(),
  route: "/hooks/a",
  kind: "task",
  release: "3.1.0",
  format: "mcp",
  taskType: "create_media_buy",
  taskId: null,
  operationId: "op-1",
  status: "working",
  instant: "2026-04-18T14:00:00.000000000",
  notificationId: null,
  body: Buffer.from('{"a":1}'),
  receivedAt: NOW,
  notes: [],
  traceparent: null,
  ...over,
});

const digestOf = (event: NewEvent): Uint8Array => createHash("sha256").update(event.body).digest().subarray(0, 16);

export const arrival = (event: NewEvent, over: Partial<Arrival> = {}): Arrival => ({
  event,
  digest: digestOf(event),
  now: NOW,
  windowSeconds: DAY_SECONDS,
  senderCap: 1_000_000,
  registered: true,
  ...over,
});

export const registration = (over: Partial<Registration> = {}): Registration => ({
  route: "/hooks/a",
  operationId: "op-1",
  sender: SELLER,
  kind: "task",
  mode: "signature",
  format: null,
  taskType: "create_media_buy",
  tokenDigest: null,
  release: null,
  events: null,
  expires: null,
  ...over,
});
