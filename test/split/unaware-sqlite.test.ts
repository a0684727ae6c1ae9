import { sqliteGround } from "./databases.js";
import { unawareCase } from "./unaware.case.js";

unawareCase(sqliteGround());
