import { postgresGround } from "./databases.js";
import { splitOperatorCase } from "./operators.case.js";

splitOperatorCase(await postgresGround());
