import { postgresEngine } from "./data-fixture.js";
import { partStoresCase } from "./search-part-stores.case.js";

partStoresCase(await postgresEngine());
