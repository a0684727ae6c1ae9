import { postgresEngine } from "./data-fixture.js";
import { olderImportCase } from "./import-older.case.js";

olderImportCase(await postgresEngine());
