import { sqliteEngine } from "./data-fixture.js";
import { dataListsCase } from "./data-lists.case.js";
import { dataMembersCase } from "./data-members.case.js";

dataMembersCase(sqliteEngine());
dataListsCase(sqliteEngine());
