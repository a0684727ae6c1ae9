import { dataEffectCase } from "./data-effect.case.js";
import { sqliteEngine } from "./data-fixture.js";

dataEffectCase(sqliteEngine());
