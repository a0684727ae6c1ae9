import { sqliteEngine } from "./data-fixture.js";
import { dataPagedCase } from "./data-paged.case.js";
import { dataPublisherCase } from "./data-publisher.case.js";

dataPublisherCase(sqliteEngine());
dataPagedCase(sqliteEngine());
