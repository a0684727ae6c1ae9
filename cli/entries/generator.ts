/** `adbind-cli`: the generator as a library. */
export * from "../../generator/index.js";
