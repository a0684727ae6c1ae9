import { sqliteGround } from "./databases.js";
import { principalCase } from "./principals.case.js";

principalCase(sqliteGround());
