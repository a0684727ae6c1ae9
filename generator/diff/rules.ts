/** Every rule by its id, what it says, and what to do about it. Ids are kept: lists of accepted findings name them. */
const schema = {
  "required-property-added": [
    "a property that must be there is new",
    "send it; do not count on it from the other side before it upgraded",
  ],
  "required-property-removed": [
    "a property that had to be there is gone",
    "keep sending it to a side of the older release; do not read it from a newer one",
  ],
  "property-added": [
    "an optional property is new",
    "send it only to a side of the newer release, where the object is closed; read it as optional",
  ],
  "property-removed": [
    "an optional property is gone",
    "stop sending it to a side of the newer release; do not read it from one",
  ],
  "property-required": [
    "an optional property must be there now",
    "always send it; read it as optional from the older release",
  ],
  "property-optional": [
    "a property that had to be there may be left out",
    "read it as optional; keep sending it to the older release",
  ],
  "property-deprecated": ["a property is deprecated, or no longer", "move to what its description names"],
  "type-narrowed": ["fewer kinds of values are allowed", "send what both allow; read what either allows"],
  "type-widened": ["more kinds of values are allowed", "send what both allow; read what either allows"],
  "type-changed": ["other kinds of values are allowed", "convert by the release of the other side"],
  "value-forbidden": ["a value was allowed, none is now", "leave it out for a side of the newer release"],
  "value-allowed": ["no value was allowed, one is now", "leave it out for a side of the older release"],
  "enum-value-added": [
    "a listed value is new",
    "send it only to a side of the newer release; have a default when reading",
  ],
  "enum-value-removed": ["a listed value is gone", "map it to one that both list before sending"],
  "const-changed": ["the one value is another", "send the one of the other side's release"],
  "values-listed": ["values are listed now, any was allowed", "send listed values only"],
  "values-unlisted": ["any value is allowed, they were listed", "have a default when reading"],
  "bound-narrowed": ["a bound on length, size or number is stricter", "keep the stricter bound when sending"],
  "bound-widened": [
    "a bound on length, size or number is looser",
    "keep the stricter bound when sending; read by the looser",
  ],
  "pattern-added": ["a text must match a pattern now", "send texts that match"],
  "pattern-removed": ["a text need not match a pattern any more", "read any text"],
  "pattern-changed": ["a text must match another pattern", "send texts that match both"],
  "format-added": ["a text must be of a format now", "send texts of the format"],
  "format-removed": ["a text need not be of a format any more", "read any text"],
  "format-changed": ["a text must be of another format", "send the format of the other side's release"],
  "step-added": ["a number must be a multiple now", "send multiples"],
  "step-removed": ["a number need not be a multiple any more", "read any number"],
  "step-changed": ["a number must be a multiple of another", "send multiples of both"],
  "object-closed": ["names that an object does not declare are refused now", "send declared names only"],
  "object-opened": ["names that an object does not declare are accepted now", "ignore unknown names when reading"],
  "other-names-narrowed": [
    "undeclared names must hold something of a kind now",
    "send what it says under undeclared names",
  ],
  "other-names-widened": ["undeclared names may hold anything now", "ignore unknown names when reading"],
  "items-changed": ["what the items of a list may be changed", "send what both allow; read what either allows"],
  "alternative-added": [
    "a form that a value may have is new",
    "send it only to a side of the newer release; have a default when reading",
  ],
  "alternative-removed": ["a form that a value could have is gone", "send a form that both have"],
  "alternatives-changed": ["how many forms may hold at once changed", "send values of exactly one form"],
  "alternatives-demanded": ["one of several forms is demanded now", "send one of them"],
  "alternatives-dropped": ["none of several forms is demanded any more", "read values of none of them"],
  "condition-added": ["one value demands more of another", "keep the condition when sending"],
  "condition-removed": ["one value demands less of another", "keep the condition when sending to the older release"],
  "condition-changed": ["one value demands something else of another", "keep both conditions when sending"],
  "arm-added": ["a tool may answer with a task status that is new for it", "handle the status"],
  "arm-removed": [
    "a tool does not answer with a task status any more",
    "keep handling it while older sellers are about",
  ],
  "webhook-added": ["a kind of event is new", "handle it, or leave it unsubscribed"],
  "webhook-removed": ["a kind of event is gone", "do not wait for it from a seller of the newer release"],
  "capability-demanded": ["an agent must say more of itself", "tell it in the answer of the capabilities tool"],
} as const;

const release = {
  "tool-added": ["a tool is new", "call it only where the seller's release has it"],
  "tool-removed": ["a tool is gone", "do not call it where the seller's release has none"],
  "tool-deprecated": ["a tool is deprecated, or no longer", "move to its successor"],
  "tool-superseded": ["what supersedes a tool changed", "move to its successor"],
  "tool-fallback": ["what to fall back to for a tool changed", "take the fallback of the seller's release"],
  "tool-mutating": ["a tool writes now, or only reads", "retry it by the seller's release: a write needs its key"],
  "tool-idempotency": ["whether a tool takes an idempotency key changed", "send the key; keep it over retries"],
  "tool-protocol": ["a tool is of another protocol surface", "route it by the seller's release"],
  "code-added": ["an error code is new", "handle it by its recovery"],
  "code-removed": ["an error code is gone", "keep handling it while older sellers are about"],
  "code-recovery": [
    "an error code is recovered from in another way",
    "recover by the release that the error comes from",
  ],
  "default-recovery": [
    "codes that nobody knows are recovered from in another way",
    "take the default of the release you are built on",
  ],
  "specialism-added": ["a specialism is new", "claim it once its tools are served"],
  "specialism-removed": ["a specialism is gone", "do not claim it"],
  "specialism-tools": [
    "what a specialism demands changed",
    "serve what it demands before claiming it at the newer release, and serve callers of the older one what it demands no more",
  ],
  "specialism-protocol": ["a specialism is of another protocol surface", "look for it there"],
  "sentence-added": ["a sentence with MUST or SHALL is new", "read it, and do what it demands"],
  "sentence-removed": ["a sentence with MUST or SHALL is gone", "do not count on it with a side of the newer release"],
  "sentence-altered": [
    "a sentence with MUST or SHALL says something else",
    "read both, and keep what the stricter demands",
  ],
  "storyboard-step-added": ["a step of a storyboard is new", "run the storyboard against the seller"],
  "storyboard-step-removed": ["a step of a storyboard is gone", "drop what was there for it alone"],
  "storyboard-step-changed": ["a step of a storyboard asks or checks something else", "run the storyboard again"],
  "vector-added": ["a test vector is new", "run it"],
  "vector-removed": ["a test vector is gone", "drop it from the tests"],
  "vector-changed": ["a test vector is another", "run it again"],
  "release-republished": ["two releases of one version differ", "pin a release by its digest"],
  "policy-patch": ["a patch breaks messages, and says it changes none", "take it for a minor release"],
  "policy-minor": ["a minor release takes away what was stable", "take it for a major release"],
} as const;

const table = { ...schema, ...release };

export type RuleId = keyof typeof table;

export interface DiffRule {
  readonly id: RuleId;
  readonly rule: string;
  readonly fix: string;
}

export const diffRules: readonly DiffRule[] = Object.entries(table).map(([id, [rule, fix]]) => ({
  id: id as RuleId,
  rule,
  fix,
}));

export const fixOf = (id: RuleId): string => table[id][1];
