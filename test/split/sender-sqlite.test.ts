import { operatorCase } from "../sender/operators.case.js";
import { outboxCase } from "../sender/outbox.case.js";
import { taskCase } from "../sender/tasks.case.js";
import { sqliteGround } from "./databases.js";
import { splitSender } from "./sender.case.js";

const on = splitSender(sqliteGround());
taskCase(on);
outboxCase(on);
operatorCase(on);
