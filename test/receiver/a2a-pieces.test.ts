/** Ends of A2A tasks that come in pieces: what is completed without its data shuts nothing out. */
import * as assert from "uvu/assert";
import { at, SELLER, send, statusOf } from "../support/receiver.js";
import { receiverSuite } from "./receiver-suite.js";

const test = receiverSuite("a2a in pieces");
const ids = { taskId: "t-1", contextId: "c-1" };
const parts = [{ data: { media_buy_id: "mb-1" } }];

const spellings = {
  "1.0": {
    artifact: { artifactUpdate: { ...ids, artifact: { artifactId: "a", parts }, append: false, lastChunk: true } },
    end: { statusUpdate: { ...ids, status: { state: "TASK_STATE_COMPLETED", timestamp: at(1) } } },
    whole: { task: { id: "t-1", status: { state: "TASK_STATE_COMPLETED", timestamp: at(2) }, artifacts: [{ parts }] } },
  },
  "0.3": {
    artifact: { kind: "artifact-update", ...ids, artifact: { artifactId: "a", parts }, lastChunk: true },
    end: { kind: "status-update", ...ids, final: true, status: { state: "completed", timestamp: at(1) } },
    whole: { kind: "task", id: "t-1", status: { state: "completed", timestamp: at(2) }, artifacts: [{ parts }] },
  },
};

for (const [version, { artifact, end, whole }] of Object.entries(spellings))
  for (const taskType of [undefined, "create_media_buy", "no_tool_of_the_release"])
    test(`A2A ${version}: an end without its data leaves room for the one that has it: ${taskType ?? "no tool"}`, async ({
      open,
    }) => {
      const told: unknown[] = [];
      const s = await open({
        handlers: {
          fallback: ({ status, body }: { status: unknown; body: unknown }) => void told.push([status, body]),
        },
      } as never);
      const route = "/hooks/pieces";
      await s.receiver.expect({ route, sender: SELLER, kind: "task", format: "a2a", ...(taskType && { taskType }) });
      assert.is(statusOf(await send(s, artifact, { route })), "accepted");
      assert.is((await send(s, end, { route })).status, 400, "its sender is told");
      assert.is((await s.store.task(SELLER, "t-1"))?.terminal ?? false, false);
      if (taskType === "create_media_buy") return;
      assert.is(statusOf(await send(s, whole, { route })), "accepted");
      await s.receiver.idle();
      assert.equal(told, [
        [null, artifact],
        ["completed", whole],
      ]);
    });

test.run();
