import { sqliteGround } from "./databases.js";
import { splitOperatorCase } from "./operators.case.js";

splitOperatorCase(sqliteGround());
