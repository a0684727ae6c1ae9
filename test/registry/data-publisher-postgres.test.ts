import { postgresEngine } from "./data-fixture.js";
import { dataPublisherCase } from "./data-publisher.case.js";

dataPublisherCase(await postgresEngine());
