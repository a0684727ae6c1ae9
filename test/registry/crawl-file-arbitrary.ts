/** Entries and properties of agent-authorization files by chance, right and wrong ones. */
import fc from "fast-check";

const word = fc.constantFrom(
  "news.example",
  "www.news.example",
  "victim.example",
  "home",
  "theirs",
  "all",
  "by_id",
  "by_tag",
);
const json = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    word,
    fc.constantFrom(null, true, 0, "https://agent.example", "2026-01-01"),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(
      fc.constantFrom(
        ...[
          "url",
          "authorized_for",
          "authorization_type",
          "property_ids",
          "property_tags",
          "properties",
          "publisher_domain",
        ],
        ...["publisher_domains", "publisher_properties", "selection_type", "property_id", "property_type", "name"],
        ...["identifiers", "type", "value", "tags", "countries", "effective_from", "collections", "__proto__"],
      ),
      tie("value"),
      { maxKeys: 6 },
    ),
  ),
})).value;
export const entry = fc.oneof(
  json,
  fc.record(
    {
      url: fc.constantFrom("https://agent.example", "https://b.example", "ftp://x"),
      authorization_type: fc.constantFrom(
        ...[
          "property_ids",
          "property_tags",
          "inline_properties",
          "publisher_properties",
          "signal_ids",
          "other",
          undefined,
        ],
      ),
      property_ids: fc.oneof(fc.array(word), json),
      property_tags: fc.oneof(fc.array(word), json),
      publisher_properties: fc.oneof(
        fc.array(
          fc.record(
            { publisher_domain: word, selection_type: word, property_ids: fc.array(word) },
            { requiredKeys: [] },
          ),
        ),
        json,
      ),
      properties: fc.array(json),
    },
    { requiredKeys: ["url"] },
  ),
);
export const anyProperty = fc.record(
  { property_id: word, property_type: word, name: word, publisher_domain: fc.oneof(word, json), tags: fc.array(word) },
  { requiredKeys: ["property_type", "name"] },
);
