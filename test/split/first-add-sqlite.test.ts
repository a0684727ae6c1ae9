import { sqliteGround } from "./databases.js";
import { firstAddCase } from "./first-add.case.js";

firstAddCase(sqliteGround());
