import { dataCase } from "./data.case.js";
import { postgresEngine } from "./data-fixture.js";

dataCase(await postgresEngine());
