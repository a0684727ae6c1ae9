import { ToolError } from "../../seller/tool-error.js";

/**
 * What a request is turned into may have fields that the request has not: what is wrong there is told by where the request says it.
 * @param fieldOf the place in the request, of a place in what it was turned into
 */
export async function toldAs<T>(work: () => Promise<T>, fieldOf: (field: string) => string): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ToolError) || error.error.field === undefined) throw error;
    const { code, message, field, ...more } = error.error;
    throw new ToolError(code, message, { ...more, field: fieldOf(field) });
  }
}
