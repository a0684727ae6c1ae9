import { postgresEngine, sqliteEngine } from "./data-fixture.js";
import { searchCase } from "./data-search.case.js";

searchCase(sqliteEngine(), "parts");
searchCase(await postgresEngine(), "parts");
