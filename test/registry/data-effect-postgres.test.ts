import { dataEffectCase } from "./data-effect.case.js";
import { dataFeedCase } from "./data-feed.case.js";
import { postgresEngine } from "./data-fixture.js";

// Before any suite runs: one that is given in a later turn of the event loop runs beside those that are under way.
const [first, second] = [await postgresEngine(), await postgresEngine()];
dataEffectCase(first);
dataFeedCase(second);
