import { dataEffectCase } from "./data-effect.case.js";
import { postgresEngine } from "./data-fixture.js";

dataEffectCase(await postgresEngine());
