import { postgresGround } from "./databases.js";
import { splitDocumentsCase } from "./documents.case.js";

splitDocumentsCase(await postgresGround());
