/** The commonest mistake with webhooks: the body was parsed before anybody verified it. */
import { AdbindError } from "../errors.js";

/** What it is told as; the application's mistake, never its sender's. */
export const notRaw = (): AdbindError =>
  new AdbindError("body_not_raw", "the body was parsed or read before the receiver had it", {
    where: "body",
    remedy:
      "give the raw body: mount the receiver before express.json() and its like, or use express.raw({ type: " +
      '"application/json" }) on its route; pass a Buffer, not a string or an object',
  });
