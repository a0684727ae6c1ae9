import { sqliteGround } from "./databases.js";
import { splitDocumentsCase } from "./documents.case.js";

splitDocumentsCase(sqliteGround());
