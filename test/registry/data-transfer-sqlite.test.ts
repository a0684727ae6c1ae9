import { sqliteEngine } from "./data-fixture.js";
import { transferCase } from "./data-transfer.case.js";

transferCase(sqliteEngine());
