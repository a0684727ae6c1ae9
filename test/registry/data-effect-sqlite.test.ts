import { dataEffectCase } from "./data-effect.case.js";
import { dataFeedCase } from "./data-feed.case.js";
import { sqliteEngine } from "./data-fixture.js";

dataEffectCase(sqliteEngine());
dataFeedCase(sqliteEngine());
