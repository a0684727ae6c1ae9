/** What work throws, by its code. */
import * as assert from "uvu/assert";
import { AdbindError } from "../../runtime/errors.js";

/** @returns the code of the AdbindError that `work` throws; `nothing thrown` where it does not */
export async function codeOf(work: () => unknown): Promise<string> {
  try {
    await work();
    return "nothing thrown";
  } catch (error) {
    assert.instance(error, AdbindError);
    return (error as AdbindError).code;
  }
}

/** @returns the AdbindError that `work` throws */
export async function thrownBy(work: () => unknown): Promise<AdbindError> {
  try {
    await work();
  } catch (error) {
    assert.instance(error, AdbindError);
    return error as AdbindError;
  }
  throw new Error("nothing was thrown");
}
