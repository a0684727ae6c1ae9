/** A brand that clients are tested with, answering by its product list: what a model of yours takes the place of. */
import type { BrandOffering, BrandProduct, BrandReply, ConversationsPort, ConversationTurn } from "./conversations.js";

const offerings: readonly BrandOffering[] = [
  {
    offering_id: "novamotors_conversational_v1",
    title: "Nova Motors electric range",
    summary: "Ask about range, charging and prices of the electric cars of Nova Motors.",
    tagline: "Go further",
    price_hint: "from $34,900",
    landing_url: "https://novamotors.example/electric",
  },
  {
    offering_id: "novamotors_launch_edition",
    title: "Nova Volta launch edition",
    summary: "The first five hundred.",
    unavailable: "sold_out",
    alternatives: ["novamotors_conversational_v1"],
  },
];

const products: readonly (BrandProduct & { readonly about: string; readonly amount: number })[] = [
  {
    product_id: "nova_volta_lr",
    name: "Nova Volta Long Range",
    price: "$48,900",
    amount: 48_900,
    availability_summary: "Delivered in six weeks",
    url: "https://novamotors.example/volta-long-range",
    about: "long road trips range highway battery fast charging family",
  },
  {
    product_id: "nova_volta",
    name: "Nova Volta",
    price: "$39,900",
    amount: 39_900,
    availability_summary: "In stock",
    url: "https://novamotors.example/volta",
    about: "everyday commute family charging at home",
  },
  {
    product_id: "nova_spark",
    name: "Nova Spark",
    price: "$34,900",
    amount: 34_900,
    availability_summary: "In stock",
    url: "https://novamotors.example/spark",
    about: "city small parking price cheap budget commute",
  },
];

const wordsOf = (text: string): string[] => text.toLowerCase().match(/[a-z]{3,}/g) ?? [];

/** Those that share most words with what is wanted first. */
function ranked(wanted: string) {
  const words = new Set(wordsOf(wanted));
  const score = ({ name, about }: (typeof products)[number]): number =>
    wordsOf(`${name} ${about}`).filter((word) => words.has(word)).length;
  return [...products].sort((a, b) => score(b) - score(a));
}

/** "The second one" is of what the person was shown; else what suits his words best. */
function meant({ intent, shown }: ConversationTurn["conversation"], message = intent): (typeof products)[number] {
  const at = ["first", "second", "third"].findIndex((word) => wordsOf(message).includes(word));
  const named = products.find(({ product_id }) => product_id === shown[at]);
  return named ?? ranked(message)[0]!;
}

const BUY = "checkout";

function reply({ conversation, message, action }: ConversationTurn): BrandReply {
  if (action?.action === BUY) {
    const wanted = products.find(({ product_id }) => product_id === action.payload?.product_id) ?? products[0]!;
    return {
      message: `Here is the ${wanted.name}, ready to be ordered.`,
      handoff: {
        type: "transaction",
        intent: {
          action: "purchase",
          product: { product_id: wanted.product_id, name: wanted.name },
          price: { amount: wanted.amount, currency: "USD" },
        },
        summary: conversation.intent,
      },
    };
  }
  if (message !== undefined && /^(no,? )?(thanks|thank you|bye|goodbye)\b/i.test(message.trim()))
    return { message: "You are welcome. Have a good trip.", handoff: { type: "complete" } };
  const { product_id, name, price, availability_summary, url } = meant(conversation, message);
  return {
    message: `For that I would look at the ${name}: ${price}, ${availability_summary?.toLowerCase()}.`,
    elements: [
      { type: "product_card", data: { title: name, price, product_id } },
      { type: "link", data: { url, label: `More of the ${name}` } },
      { type: "action_button", data: { label: "Order it", action: BUY, payload: { product_id } } },
    ],
  };
}

/** Conversations of a made-up brand, to start from. */
export const exampleConversations: ConversationsPort = {
  capabilities: {
    modalities: { conversational: true },
    components: { standard: ["text", "link", "image", "product_card", "action_button"] },
    commerce: { acp_checkout: true },
  },
  brandUrl: "https://novamotors.example/.well-known/brand.json",
  sponsorship: {
    payer: { domain: "novamotors.example", name: "Nova Motors" },
    use: "presentation_only",
    disclosure: {
      required: true,
      label: "Sponsored by Nova Motors",
      timing: "at_first_influenced_output",
      proximity: "near_rendered_unit",
    },
  },
  idleSeconds: 300,
  offering: async (id) => offerings.find(({ offering_id }) => offering_id === id),
  products: async (_, intent = "") => ranked(intent).map(({ about: _about, amount: _amount, ...shown }) => shown),
  reply: async (turn) => reply(turn),
  checkout: async ({ sessionId }) => ({
    url: "https://novamotors.example/checkout",
    token: sessionId,
  }),
};
