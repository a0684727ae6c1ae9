import { postgresEngine } from "./data-fixture.js";
import { dataListsCase } from "./data-lists.case.js";
import { dataMembersCase } from "./data-members.case.js";

// Before any suite runs: one that is given in a later turn of the event loop runs beside those that are under way.
const [first, second] = [await postgresEngine(), await postgresEngine()];
dataMembersCase(first);
dataListsCase(second);
