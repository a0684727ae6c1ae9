/** For tests of the legacy schemes: options without their warning, and the code that was thrown. */
import * as assert from "uvu/assert";
import { AdbindError } from "../../runtime/errors.js";

export const quiet = { onDeprecated: () => undefined };

export const codeOf = async (run: () => Promise<unknown>): Promise<string> => {
  try {
    await run();
    return "nothing thrown";
  } catch (error) {
    assert.instance(error, AdbindError);
    return (error as AdbindError).code;
  }
};
