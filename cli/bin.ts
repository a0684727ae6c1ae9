#!/usr/bin/env node
/**
 * What the shell runs as `adbind-cli`, and `adbind` hands its commands to. It imports nothing before it has looked at Node's version: an older one would stop at a name that
 * `main` imports, with a SyntaxError. Written in what every Node with ES modules reads, so no top-level await.
 */
const NEEDED: readonly [major: number, minor: number] = [22, 20];

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);

if (major > NEEDED[0] || (major === NEEDED[0] && minor >= NEEDED[1])) {
  // It ends every failure itself; what comes here is that it could not be loaded.
  import("./main.js").catch((error) => {
    console.error(
      `adbind: the package cannot be loaded: ${error instanceof Error ? error.message : String(error)}: install it anew`,
    );
    process.exitCode = 1;
  });
} else {
  console.error(
    `adbind: this is Node ${process.versions.node}, and adbind needs ${NEEDED.join(".")} or newer: ` +
      "install one from https://nodejs.org and put it first on PATH",
  );
  process.exitCode = 1;
}
