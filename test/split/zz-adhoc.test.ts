import { attemptCase } from "../sender/attempts.case.js";
import { bodyCase } from "../sender/bodies.case.js";
import { channelCase } from "../sender/channels.case.js";
import { coalescenceCase } from "../sender/coalescence.case.js";
import { moveCase } from "../sender/moves.case.js";
import { notificationSetCase } from "../sender/notification-sets.case.js";
import { notificationCase } from "../sender/notifications.case.js";
import { notifiedSecretCase } from "../sender/notified-secrets.case.js";
import { operationCase } from "../sender/operations.case.js";
import { operatorCase } from "../sender/operators.case.js";
import { outboxCase } from "../sender/outbox.case.js";
import { secretCase } from "../sender/secrets.case.js";
import { strangersCase } from "../sender/strangers.case.js";
import { taskBatchesCase } from "../sender/task-batches.case.js";
import { taskCase } from "../sender/tasks.case.js";
import { sqliteGround } from "./databases.js";
import { splitSender } from "./sender.case.js";

const on = splitSender(sqliteGround());
for (const one of [
  taskCase,
  taskBatchesCase,
  attemptCase,
  outboxCase,
  channelCase,
  strangersCase,
  bodyCase,
  moveCase,
  notificationCase,
  notificationSetCase,
  operatorCase,
  operationCase,
  secretCase,
  notifiedSecretCase,
  coalescenceCase,
])
  one(on);
