import { tasksCase } from "../seller/tasks.case.js";
import { sqliteGround } from "./databases.js";
import { splitSeller } from "./seller.case.js";

tasksCase(splitSeller(sqliteGround()));
