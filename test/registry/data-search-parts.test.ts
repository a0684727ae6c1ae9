import { postgresEngine, sqliteEngine } from "./data-fixture.js";
import { searchCase } from "./data-search.case.js";

// Before any suite runs: one that is given in a later turn of the event loop runs beside those that are under way.
const [first, second] = [sqliteEngine(), await postgresEngine()];
searchCase(first, "parts");
searchCase(second, "parts");
