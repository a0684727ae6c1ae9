/** `./run build`: both packages under .cache/packages, and in dist/ what `npm pack` at the repository takes. */
import { cpSync, rmSync } from "node:fs";
import path from "node:path";
import { repository } from "./pack/packages.js";
import { stagePackages } from "./pack/stage.js";

const staged = stagePackages(path.join(repository, ".cache/packages"), ["tsc"]);
const dist = path.join(repository, "dist");
rmSync(dist, { recursive: true, force: true });
cpSync(path.join(staged.adbind, "dist"), dist, { recursive: true });
