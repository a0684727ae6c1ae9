/** `./run interop <peer>`: adbind against official packages, cell by cell. */
import { Option } from "commander";
import { close } from "../../cli/closing-line.js";
import { script } from "../../cli/script.js";
import { judgeRegistry } from "./registry/judge.js";
import { algorithms, judgeSigning, type PeerName, peerNames } from "./signing/judge.js";
import { judgeWebhooks } from "./webhooks/judge.js";

const command = script("interop", "adbind against an official SDK: what one side makes, the other believes")
  .argument(
    "<peer>",
    `${peerNames.join(", ")}, transports: the official MCP and A2A packages of every line, or matrix: our own two sides, release by release`,
  )
  .addOption(
    new Option("--part <name>", "what is judged")
      .choices(["signing", "webhooks", "registry", "calls", "products", "life"])
      .default("signing"),
  )
  .addOption(
    new Option(
      "--only <release>",
      "of --part webhooks: this release of the corpus only; of --part life: a seller of these, newest first, by commas",
    ),
  )
  .addOption(new Option("--alg <name>", "keys of this algorithm only").choices(algorithms))
  .parse();
const [peer = ""] = command.args;
if (peer === "transports") {
  const { judgeTransports } = await import("./transports/judge.js");
  close(await judgeTransports(), "steps");
  process.exit();
}
if (peer === "matrix") {
  const { judgeMatrix } = await import("./matrix/judge.js");
  close(await judgeMatrix(), "steps");
  process.exit();
}
if (!peerNames.includes(peer as PeerName)) {
  console.error(`no peer ${peer}; there are ${peerNames.join(", ")}`);
  process.exit(2);
}
const { alg, part, only } = command.opts<{
  readonly alg?: (typeof algorithms)[number];
  readonly part: "signing" | "webhooks" | "registry" | "calls" | "products" | "life";
  readonly only?: string;
}>();
if (part === "life") {
  const { judgeLife } = await import("./life/judge.js");
  close(await judgeLife(peer as PeerName, only), "steps");
  process.exit();
}
if (part === "calls") {
  if (peer !== "python") {
    console.error("calls are judged against python only; ./run interop transports has the TypeScript packages");
    process.exit(2);
  }
  const { judgeCalls } = await import("./calls/judge.js");
  close(await judgeCalls(), "steps");
  process.exit();
}
if (part === "products") {
  if (peer !== "python") {
    console.error("products are judged against python only: its client maps the formats that they name");
    process.exit(2);
  }
  const { judgeProducts } = await import("./products/judge.js");
  close(await judgeProducts(), "releases");
  process.exit();
}
if (part === "webhooks") {
  if (peer !== "python") {
    console.error("webhooks are judged against python only");
    process.exit(2);
  }
  close(await judgeWebhooks(only === undefined ? [] : [only]), "cells");
} else if (part === "registry") close(await judgeRegistry(peer as PeerName), "methods");
else close(await judgeSigning(peer as PeerName, alg === undefined ? algorithms : [alg]), "cells");
