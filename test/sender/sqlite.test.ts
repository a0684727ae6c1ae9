import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "uvu";
import { createSender } from "../../runtime/sender/index.js";
import { openSqliteStore, type SqliteStore } from "../../runtime/store/sqlite/open.js";
import { attemptCase } from "./attempts.case.js";
import { bodyCase } from "./bodies.case.js";
import { boundCase } from "./bounds.case.js";
import { callbackCase } from "./callbacks.case.js";
import { channelCase } from "./channels.case.js";
import { coalescenceCase } from "./coalescence.case.js";
import { endpointNameCase } from "./endpoint-names.case.js";
import { followedCase } from "./followed.case.js";
import { heldChannelCase } from "./held-channels.case.js";
import { moveCase } from "./moves.case.js";
import { namesCase } from "./names.case.js";
import { notificationSetCase } from "./notification-sets.case.js";
import { notificationCase } from "./notifications.case.js";
import { notifiedSecretCase } from "./notified-secrets.case.js";
import { operationCase } from "./operations.case.js";
import { operatorCase } from "./operators.case.js";
import { outboxCase } from "./outbox.case.js";
import { secretCase } from "./secrets.case.js";
import type { SenderCase } from "./sender-suite.js";
import { setBackCase } from "./set-back.case.js";
import { strangersCase } from "./strangers.case.js";
import { takenCase } from "./taken.case.js";
import { taskBatchesCase } from "./task-batches.case.js";
import { taskCase } from "./tasks.case.js";
import { unreadableTaskCase } from "./unreadable-tasks.case.js";
import { untoldCase } from "./untold.case.js";

const folder = mkdtempSync(path.join(tmpdir(), "adbind-sender-"));
let count = 0;
let store: SqliteStore | undefined;

const on: SenderCase = {
  name: "sender on sqlite",
  open: (options) => createSender({ ...options, store: store! }),
  reset: async () => {
    await store?.close();
    count += 1;
    store = openSqliteStore({ path: path.join(folder, `${count}.db`) });
  },
  transaction: async (work) => {
    store!.db.transaction(() => work(store!.db))();
  },
  corrupt: async (statement, work) => {
    await work();
    store!.database.file.exec(statement);
  },
  bytes: async () =>
    Buffer.concat(
      ["", "-wal", "-shm"].map((end) => path.join(folder, `${count}.db${end}`)).map((file) => readFileSync(file)),
    ),
  rows: async (statement) => store!.database.file.prepare(statement).all() as Record<string, unknown>[],
};
taskCase(on);
unreadableTaskCase(on);
boundCase(on);
heldChannelCase(on);
taskBatchesCase(on);
attemptCase(on);
outboxCase(on);
channelCase(on);
strangersCase(on);
namesCase(on);
bodyCase(on);
callbackCase(on);
endpointNameCase(on);
moveCase(on);
notificationCase(on);
notificationSetCase(on);
operatorCase(on);
operationCase(on);
secretCase(on);
notifiedSecretCase(on);
coalescenceCase(on);
setBackCase(on);
takenCase(on);
untoldCase(on);
followedCase(on);

test("the folder is cleared", () => {
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
});
test.run();
