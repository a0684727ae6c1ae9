import { sqliteEngine } from "./data-fixture.js";
import { dataMembersCase } from "./data-members.case.js";

dataMembersCase(sqliteEngine());
