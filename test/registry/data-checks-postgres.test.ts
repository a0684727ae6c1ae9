import { dataChecksCase } from "./data-checks.case.js";
import { postgresEngine } from "./data-fixture.js";

dataChecksCase(await postgresEngine());
