/** What work throws, by its code. */
import * as assert from "uvu/assert";
import { AdbindError } from "../../runtime/errors.js";

/** @returns the AdbindError that `work` throws; undefined where it throws nothing */
async function thrown(work: () => unknown): Promise<AdbindError | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    assert.instance(error, AdbindError);
    return error as AdbindError;
  }
}

/** @returns the code of the AdbindError that `work` throws; `nothing thrown` where it does not */
export const codeOf = async (work: () => unknown): Promise<string> => (await thrown(work))?.code ?? "nothing thrown";

/** @returns the AdbindError that `work` throws, which it has to */
export async function thrownBy(work: () => unknown): Promise<AdbindError> {
  const error = await thrown(work);
  assert.ok(error !== undefined, "nothing thrown");
  return error;
}
