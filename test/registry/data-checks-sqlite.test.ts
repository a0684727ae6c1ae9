import { dataChecksCase } from "./data-checks.case.js";
import { sqliteEngine } from "./data-fixture.js";

dataChecksCase(sqliteEngine());
