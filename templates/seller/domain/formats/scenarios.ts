import { type Scenarios, textParam } from "../controller/scenario.js";
import { formatFromId, saveOwnFormat } from "./formats.js";

/** `seed_creative_format`: a format of the caller's own; fields of the fixture are laid over the defaults. */
export const scenarios: Scenarios = {
  seed_creative_format(params, call) {
    const id = textParam(params, "format_id");
    const {
      format_id: _,
      name,
      description,
      renders,
      assets,
      ...more
    } = (params.fixture ?? {}) as Record<string, never>;
    saveOwnFormat(call, {
      ...formatFromId(id),
      ...(name !== undefined && { name }),
      ...(description !== undefined && { description }),
      ...(renders !== undefined && { renders }),
      ...(assets !== undefined && { assets }),
      more,
    });
    return { message: `format ${id} is there` };
  },
};
