import { dataExpandCase } from "./data-expand.case.js";
import { sqliteEngine } from "./data-fixture.js";

dataExpandCase(sqliteEngine());
