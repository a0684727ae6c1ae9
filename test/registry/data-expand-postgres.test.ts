import { dataExpandCase } from "./data-expand.case.js";
import { postgresEngine } from "./data-fixture.js";

dataExpandCase(await postgresEngine());
