import { sqliteGround } from "./databases.js";
import { splitStoreCase } from "./store.case.js";

splitStoreCase(sqliteGround());
