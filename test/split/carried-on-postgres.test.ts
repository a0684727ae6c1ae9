import { carriedOnCase } from "./carried-on.case.js";
import { postgresGround } from "./databases.js";

carriedOnCase(await postgresGround());
