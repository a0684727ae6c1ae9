/** Who is told that a creative has changed: one part per area of the domain. */
import { listeners as mediaBuys } from "./domain/media-buys/listeners.js";
import type { CreativeListener } from "./handler.js";

export const listeners: readonly CreativeListener[] = [mediaBuys];
