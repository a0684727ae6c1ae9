import { splitBehavioursCase } from "./behaviours.case.js";
import { sqliteGround } from "./databases.js";

splitBehavioursCase(sqliteGround());
