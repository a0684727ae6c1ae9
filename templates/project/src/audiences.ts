/** Where the people of an audience are known. Members come as the buyer sent them, hashed; at least once with the same key. */
import { type AudiencesPort, tellPlatform } from "adbind/behaviours";

/** Your user graph's API; without one nobody is told. */
const userGraph = process.env.AUDIENCES_URL;

export const audiences: AudiencesPort = {
  ...(userGraph !== undefined && { upstream: true }),
  change: (audience, call) => tellPlatform(userGraph, "/audiences", audience, call),
};
