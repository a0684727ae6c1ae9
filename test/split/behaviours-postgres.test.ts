import { splitBehavioursCase } from "./behaviours.case.js";
import { postgresGround } from "./databases.js";

splitBehavioursCase(await postgresGround());
