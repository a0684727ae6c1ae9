/** `./run judge NAME`: every cell of a judge of which `./run test` takes a few; one cell is one test of its file. */
import { willClose } from "../cli/closing-line.js";
import { script } from "../cli/script.js";
import { runFile } from "./runner/test-files.js";
import { CHOICE } from "./support/cells.js";
import { judges } from "./support/judges.js";

const command = script("judge", "every cell of a judge of which ./run test takes a few")
  .argument("<name>", `one of ${Object.keys(judges).join(", ")}`)
  .option("--cells <choice>", "what chooses a few of them, as a commit does; `all` for every one", "all")
  .parse();
const [name = ""] = command.args;
if (!Object.hasOwn(judges, name)) {
  console.error(`no judge ${name}; there are ${Object.keys(judges).join(", ")}`);
  process.exit(2);
}
const { cells } = command.opts<{ readonly cells: string }>();
const close = willClose("cells");
close(await runFile(judges[name as keyof typeof judges], { env: { [CHOICE]: cells }, echo: true, limitMs: null }));
