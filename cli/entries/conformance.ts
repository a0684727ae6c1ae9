/** `adbind-cli/conformance`: the published storyboards of a release, run against an agent. */
export * from "../../runtime/conformance/index.js";
