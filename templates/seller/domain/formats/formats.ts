/** Creative formats this seller takes. Documents of kind `format`, by id: everybody's, or one caller's own. */
import type { JsonObject } from "adbind/contract";
import type { Fixture } from "../../documents.js";
import type { Call } from "../../handler.js";

export interface FormatId {
  readonly agent_url: string;
  readonly id: string;
}

/** One asset a format asks for. */
export interface FormatAsset {
  readonly item_type: "individual";
  readonly asset_id: string;
  readonly asset_type: string;
  readonly required: boolean;
  readonly requirements?: JsonObject;
}

/** A format as kept: its id is completed with this seller's address when it is shown. */
export interface Format {
  readonly id: string;
  readonly name: string;
  readonly description?: string;
  readonly renders?: readonly { readonly role: string; readonly dimensions?: Dimensions }[];
  readonly assets?: readonly FormatAsset[];
  /** More of the format's own fields, as on the wire. */
  readonly more?: JsonObject;
}

export interface Dimensions {
  readonly width: number;
  readonly height: number;
  readonly unit?: string;
}

const KIND = "format";

export const formatFixture = (format: Format): Fixture => ({ kind: KIND, owner: "", id: format.id, body: format });

export const format = (call: Call, id: string): Format | undefined =>
  call.documents.get<Format>(KIND, call.principal, id) ?? call.documents.get<Format>(KIND, "", id);

/** A caller with formats of its own sees those and no others. */
export function formats(call: Call): Format[] {
  const own = call.documents.list<Format>(KIND, call.principal);
  return own.length > 0 ? own : call.documents.list<Format>(KIND, "");
}

export const saveOwnFormat = (call: Call, kept: Format): void =>
  call.documents.put(KIND, call.principal, kept.id, kept);

export const saveFormat = (call: Call, kept: Format): void => call.documents.put(KIND, "", kept.id, kept);

/** The format's name everywhere: whose it is, and which. */
export const formatId = (call: Call, id: string): FormatId => ({ agent_url: call.agentUrl, id });

export const shownFormat = (call: Call, { id, more, ...rest }: Format): JsonObject => ({
  format_id: formatId(call, id),
  ...rest,
  ...more,
});

/** What can be told of a format from an id such as `display_300x250` or `video_15s`. */
export function formatFromId(id: string): Format {
  const size = /(\d{2,4})x(\d{2,4})/.exec(id);
  const seconds = /(\d{1,3})s(ec)?\b/.exec(id);
  const dimensions = size === null ? undefined : { width: Number(size[1]), height: Number(size[2]), unit: "px" };
  const type = seconds !== null || id.includes("video") ? "video" : id.includes("audio") ? "audio" : "image";
  return {
    id,
    name: id.replaceAll(/[_-]+/g, " "),
    renders: [{ role: "primary", dimensions: dimensions ?? { width: 1920, height: 1080, unit: "px" } }],
    assets: [
      {
        item_type: "individual",
        asset_id: type,
        asset_type: type,
        required: true,
        ...(dimensions !== undefined && { requirements: { width: dimensions.width, height: dimensions.height } }),
      },
    ],
  };
}
