/** What the brand says in a conversation: a list of answers, until you put a model in its place. */
import { type ConversationsPort, exampleConversations } from "adbind/behaviours";

export const conversations: ConversationsPort = {
  // What clients are tested with; put your own brand, offerings and products in its place.
  ...exampleConversations,
  sponsorship: { ...exampleConversations.sponsorship, use: "presentation_only" },
  // Ask your model here. It is given what was said, and of the person only what he has agreed to share.
  reply: async (turn, call) =>
    /\btalk (to|with) a (person|human)\b/i.test(turn.message ?? "")
      ? { message: "I hand you over to a colleague.", handoff: { type: "complete" } }
      : exampleConversations.reply(turn, call),
};
