import { dataCase } from "./data.case.js";
import { sqliteEngine } from "./data-fixture.js";

dataCase(sqliteEngine());
