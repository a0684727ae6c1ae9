/** A test of one's own: twenty events through a hostile network, each handled once. */
import { createSellerDouble, createTestReceiver, testEvent } from "adbind/testing";
import { release } from "#bindings";

const sender = "https://seller.example/agent";
const publicUrl = "https://hooks.buyer.example";
const handled: string[] = [];

const { receiver, key, clock, close } = createTestReceiver({
  release,
  sender,
  publicUrl,
  handlers: { fallback: ({ taskId }) => void handled.push(taskId ?? "") },
});
await receiver.expect({ route: "/webhooks/buys", sender, kind: "task" });

const double = createSellerDouble({
  url: `${publicUrl}/webhooks/buys`,
  key,
  now: () => clock.ms,
  deliver: (webhook) => receiver.handle(webhook),
  network: { duplicate: 0.5, replay: 0.3, forge: 0.5, delay: 0.2, reorder: true },
});
const events = Array.from({ length: 20 }, (_, at) => testEvent({ task_id: `task-${at}` }, () => clock.ms));
const { faults } = await double.send(events);
await receiver.idle();
console.log(`handled ${handled.length} of ${events.length}, each once: ${new Set(handled).size === handled.length}`);
console.log(`faults of the receiver: ${faults.length}`);
await close();
