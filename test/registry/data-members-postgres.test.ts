import { postgresEngine } from "./data-fixture.js";
import { dataListsCase } from "./data-lists.case.js";
import { dataMembersCase } from "./data-members.case.js";

dataMembersCase(await postgresEngine());
dataListsCase(await postgresEngine());
