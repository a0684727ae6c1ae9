import { sqliteGround } from "./databases.js";
import { moveCase } from "./move.case.js";

moveCase(sqliteGround());
