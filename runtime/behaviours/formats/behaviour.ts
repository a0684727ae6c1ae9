import { type Behaviour, ScenarioError, textParam } from "../frame/behaviour.js";
import { formatFromId, seedFormat } from "./formats.js";
import { listFormats } from "./list.js";

/** Formats that creatives may have. */
export const formatsBehaviour: Behaviour = {
  area: "formats",
  tools: { list_creative_formats: listFormats },
  scenarios: {
    /** A format of the caller's own; fields of the fixture are laid over the defaults. */
    async seed_creative_format(params, call) {
      const id = textParam(params, "format_id");
      if (!/^[a-zA-Z0-9_-]+$/.test(id))
        throw new ScenarioError("INVALID_PARAMS", "ids of formats have letters, digits, _ and - only");
      const fixture = (params.fixture ?? {}) as Record<string, never>;
      const { format_id: _, name, description, renders, assets, ...more } = fixture;
      seedFormat(call, {
        ...formatFromId(id),
        ...(name !== undefined && { name }),
        ...(description !== undefined && { description }),
        ...(renders !== undefined && { renders }),
        ...(assets !== undefined && { assets }),
        more,
      });
      return { message: `format ${id} is there` };
    },
  },
};
