import { sqliteEngine } from "./data-fixture.js";
import { olderImportCase } from "./import-older.case.js";

olderImportCase(sqliteEngine());
