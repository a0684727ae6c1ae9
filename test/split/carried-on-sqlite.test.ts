import { carriedOnCase } from "./carried-on.case.js";
import { sqliteGround } from "./databases.js";

carriedOnCase(sqliteGround());
