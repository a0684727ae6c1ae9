/** Who judges by policies written in words: a reader of plain sentences, until you put a model or a person in its place. */
import { type PolicyPort, plainPolicies } from "adbind/behaviours";

export const policy: PolicyPort = {
  // Measures what can be told of a creative without looking at its pictures.
  ...plainPolicies,
  // What no sentence is understood of is `unevaluated`: have it judged here, before it is answered so.
  content: (question) => plainPolicies.content(question),
  spending: (one) => plainPolicies.spending(one),
  // Judges an action by a policy that no rule was read from; undefined leaves it to a person.
  action: async () => undefined,
  // The text of a policy of the registry, by its id; undefined where you do not have it.
  registered: async () => undefined,
};
