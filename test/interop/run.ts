/** `./run interop <peer> --part signing`: adbind against an official SDK, cell by cell. */
import { Option } from "commander";
import { close } from "../../cli/closing-line.js";
import { script } from "../../cli/script.js";
import { algorithms, judgeSigning, type PeerName, peerNames } from "./signing/judge.js";

const command = script("interop", "adbind against an official SDK: what one side makes, the other believes")
  .argument("<peer>", peerNames.join(" or "))
  .addOption(new Option("--part <name>", "what is judged").choices(["signing"]).default("signing"))
  .addOption(new Option("--alg <name>", "keys of this algorithm only").choices(algorithms))
  .parse();
const [peer = ""] = command.args;
if (!peerNames.includes(peer as PeerName)) {
  console.error(`no peer ${peer}; there are ${peerNames.join(", ")}`);
  process.exit(2);
}
const { alg } = command.opts<{ readonly alg?: (typeof algorithms)[number] }>();
close(await judgeSigning(peer as PeerName, alg === undefined ? algorithms : [alg]), "cells");
