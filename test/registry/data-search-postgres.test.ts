import { postgresEngine } from "./data-fixture.js";
import { searchCase } from "./data-search.case.js";

searchCase(await postgresEngine());
searchCase(await postgresEngine(), "database");
