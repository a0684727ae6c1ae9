/** A step as reports name it: its text in one line, and a hash that tells whether the text has changed. */
import { createHash } from "node:crypto";
import type { StoryboardStep } from "./document.js";

/** Characters of a step's hash. */
const HASH_CHARS = 12;

export const stepHash = (step: StoryboardStep): string =>
  createHash("sha256").update(JSON.stringify(step)).digest("hex").slice(0, HASH_CHARS);

export const oneLine = (text: unknown): string =>
  String(text ?? "")
    .trim()
    .replace(/\s+/g, " ");
