import { postgresEngine } from "./data-fixture.js";
import { dataPagedCase } from "./data-paged.case.js";
import { dataPublisherCase } from "./data-publisher.case.js";

// Before any suite runs: one that is given in a later turn of the event loop runs beside those that are under way.
const [first, second] = [await postgresEngine(), await postgresEngine()];
dataPublisherCase(first);
dataPagedCase(second);
