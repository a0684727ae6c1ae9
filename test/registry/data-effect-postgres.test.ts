import { dataEffectCase } from "./data-effect.case.js";
import { dataFeedCase } from "./data-feed.case.js";
import { postgresEngine } from "./data-fixture.js";

dataEffectCase(await postgresEngine());
dataFeedCase(await postgresEngine());
