/** What the properties an agent may sell add to its profile. */
import type { PropertyRecord } from "./file-types.js";
import { byCodePoint } from "./model.js";

/** What properties add to a profile. */
export interface Contribution {
  readonly types: readonly string[];
  readonly channels: readonly string[];
  readonly tags: readonly string[];
  /** Properties by type. Rows from before it was kept have none. */
  readonly counts?: Readonly<Record<string, number>>;
}

/** Channels of the protocol; others are dropped from profiles (docs/protocol/files.md#properties). */
const channelNames = new Set(
  (
    "display olv social search ctv linear_tv radio streaming_audio podcast dooh ooh print cinema email gaming retail_media " +
    "influencer affiliate product_placement sponsored_intelligence"
  ).split(" "),
);

/** The channel a property stands for where its file does not say. */
const channelOfType: Readonly<Record<string, string>> = {
  website: "display",
  mobile_app: "display",
  desktop_app: "display",
  ctv_app: "ctv",
  dooh: "dooh",
  podcast: "podcast",
  radio: "radio",
  linear_tv: "linear_tv",
  streaming_audio: "streaming_audio",
  ai_assistant: "sponsored_intelligence",
};

/** Each once, by code point. */
export const distinct = (values: Iterable<string>): string[] => [...new Set(values)].sort(byCodePoint);

/** Most values that one list of a profile has, and their characters in sum: it keeps a profile to some kilobytes, whatever files say. */
const LIST_VALUES = 500;
const LIST_CHARACTERS = 10_000;

/** As many of the first values as one list of a profile has. */
export function fittingValues(values: readonly string[]): readonly string[] {
  let characters = 0;
  const end = values.findIndex((value, at) => {
    characters += value.length;
    return at === LIST_VALUES || characters > LIST_CHARACTERS;
  });
  return end < 0 ? values : values.slice(0, end);
}

/** Each list as long as a profile's may be: thousands of agents may have the same, each for itself. */
export function contributionOf(properties: Iterable<Pick<PropertyRecord, "type" | "channels" | "tags">>): Contribution {
  const types = new Map<string, number>();
  const channels = new Set<string>();
  const tags = new Set<string>();
  for (const property of properties) {
    types.set(property.type, (types.get(property.type) ?? 0) + 1);
    const named = (property.channels ?? []).filter((channel) => channelNames.has(channel));
    for (const channel of named) channels.add(channel);
    const implied = channelOfType[property.type];
    if (named.length === 0 && implied !== undefined) channels.add(implied);
    for (const tag of property.tags) tags.add(tag);
  }
  const kept = fittingValues(distinct(types.keys()));
  return {
    types: kept,
    channels: distinct(channels),
    tags: fittingValues(distinct(tags)),
    counts: Object.fromEntries(kept.map((type) => [type, types.get(type)!])),
  };
}
