/** What instances change that do not know yet that a principal has moved, and that his rows are gone where they look for him. */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { Sender } from "../../runtime/sender/index.js";
import type { Ground } from "./databases.js";
import { buyOf, fill, going, hookOf, principalWorld, taskOf } from "./principal-world.js";

const [principal] = going as [string];
const working = { status: "working", message: "x" } as const;

/** What is asked of a sender, and how many events come of it; 1 for an answer. */
const asked: Readonly<Record<string, (sender: Sender) => Promise<number>>> = {
  "a change of a task": async ({ tasks }) =>
    (await tasks.update(taskOf(principal), working, { principal })).keys.length,
  "several changes": async ({ tasks }) =>
    (await tasks.updateAll([{ taskId: taskOf(principal), ...working }], { principal })).flatMap(({ keys }) => keys)
      .length,
  "a registration that is read": async ({ tasks }) =>
    (await tasks.attached(taskOf(principal), { principal })) === undefined ? 0 : 1,
  "an impairment": async ({ channels }) => {
    const event = { notificationId: "imp-2", eventType: "fraud", impairment: { impairment_id: "imp-2" } };
    return (await channels.impairment(buyOf(principal), event, { principal })).keys.length;
  },
  "whose clocks a buy is reported by": async ({ channels }) => {
    await channels.reportIn({ mediaBuyId: buyOf(principal), principal }, "Asia/Tokyo");
    return 1;
  },
  "a buy that is closed": async ({ channels }) =>
    (await channels.close(buyOf(principal), { principal })).keys.length === 0 ? 0 : 1,
};

export function unawareCase(ground: Ground): void {
  const test = suite(`senders that do not know of a move, ${ground.name}`);
  test("what is told them of a principal who has moved is told where he went, and nothing is lost", async () => {
    const place = await principalWorld(ground);
    const { sender: first } = await place.instance(4);
    await fill(first, principal, 1);
    const start = { taskId: taskOf(principal), tool: "create_media_buy", status: "submitted", principal } as const;
    await first.tasks.attach(start, { url: hookOf(principal), token: "t" });
    // One that has changed the task itself, and remembers it; and one for each question.
    const remembering = (await place.instance(4)).sender;
    await remembering.tasks.update(taskOf(principal), working);
    const senders: Record<string, Sender> = {};
    for (const what of Object.keys(asked)) senders[what] = (await place.instance(4)).sender;
    const change = place.change();
    await change.add("d");
    assert.is(await change.move(), 1);
    assert.ok((await remembering.tasks.update(taskOf(principal), working)).keys.length > 0, "what is remembered");
    for (const [what, ask] of Object.entries(asked)) assert.ok((await ask(senders[what]!)) > 0, what);
    assert.equal(Object.keys(await place.where(principal)), ["d"]);
    await place.close();
  });
  test.after(() => ground.close());
  test.run();
}
