/**
 * How a tool's file looks. A handler gets the request as the release types it, and a call: the documents of this seller,
 * and what the runtime knows of the caller. It returns an answer or throws a ToolError; what it wrote to the documents
 * is committed with the answer, exactly once, and not at all when the call fails.
 *
 *     export const getProducts: Handler<"get_products"> = (request, call) => call.answer(findProducts(call, request));
 */
import type { AnyTool, JsonObject, Reply, RequestOf } from "adbind/contract";
import type { ArmReply, Seller, SellerContext, SellerHandler, SellerSigning } from "adbind/seller";
import type { tools } from "#bindings";
import { type Documents, openDocuments } from "./documents.js";
import type { Shelf, Tx } from "./shelf.js";

export type ToolName = keyof typeof tools & string;
export type Tool<N extends ToolName> = (typeof tools)[N];
export type Request<N extends ToolName> = RequestOf<Tool<N>>;
export type { Tx } from "./shelf.js";

/** What does not change from call to call. */
export interface Settings {
  /** This seller as others name it: the address of its MCP endpoint. */
  readonly agentUrl: string;
  /** For people. */
  readonly name: string;
  /** What it signs with; its public part is published. */
  readonly signing: SellerSigning;
  /** Guaranteed orders from this much on wait for a human's signature. */
  readonly signedFrom: number;
  /** In development, where nobody signs: an order also works and asks for approval on its way. */
  readonly signingSteps: boolean;
}

/** What an area can do beyond what its tools tell; where that depends on which are served, it is told those. */
export type Capabilities = JsonObject | ((served: ReadonlySet<string>) => JsonObject);

/** What an area serves beside its tools. */
export type Routes = (app: Seller["app"], shelf: Shelf) => void;

/** Money about to be spent. */
export interface Spending {
  readonly tool: string;
  /** The request, as received. */
  readonly request: object;
  /** In the currency of the order. */
  readonly amount: number;
  readonly accountId: string;
}

/** What an area has to say about that: it throws a ToolError to stop it. */
export type SpendingCheck = (call: Call, spending: Spending) => void;

/** A creative's state, as it has become. */
export interface CreativeChange {
  readonly id: string;
  readonly status: string;
  readonly reason?: string;
}

/** What an area does when a creative has changed its state. */
export type CreativeListener = (call: Call, creative: CreativeChange) => void;

/** Makes the data of a delivery report; undefined for a buy that is not of its area. */
export type ReportMaker = (call: Call, report: { readonly mediaBuyId: string }) => ReportData | undefined;

/** What a report holds beside its period and kind. */
export interface ReportData extends JsonObject {
  currency: string;
  media_buy_deliveries: JsonObject[];
}

type Context<T> = SellerContext<T, Tx>;

/** What the runtime knows of a call, whatever its tool. */
export type CallFacts = Omit<
  Context<AnyTool>,
  "complete" | "submitted" | "working" | "inputRequired" | "fail" | "reject"
>;

/** One call of any tool, as the domain sees it. */
export interface Call extends Settings {
  readonly documents: Documents;
  readonly ctx: CallFacts;
  /** Whose data this call may see: see domain/accounts. */
  readonly principal: string;
  /** The instant of the call; the same throughout, so that all it writes has one time. */
  readonly now: Date;
  /** A new id such as `mb_3f0c...`. */
  id(prefix: string): string;
  /** The same call at a later time, with a fresh view of the documents: for what a task does after the answer. */
  again(): Promise<Call>;
}

/** A call of one tool, with its answers. */
export interface ToolCall<N extends ToolName> extends Call {
  readonly ctx: Context<Tool<N>>;
  /**
   * The tool's response. The domain builds documents that serve several releases, so their shape is checked by the
   * runtime against the release's schema (in development a broken one is an error), not here: `call.ctx.complete(data)`
   * is the same with the compiler looking on.
   */
  answer(document: JsonObject): ArmReply<Tool<N>, "completed">;
}

export type Handler<N extends ToolName> = (
  request: Request<N>,
  call: ToolCall<N>,
) => Reply<Tool<N>> | Promise<Reply<Tool<N>>>;

// biome-ignore lint/suspicious/noExplicitAny: handlers of different tools in one record
type Named = { readonly [N in ToolName]?: Handler<any> };

/** What createSeller takes, for the tools given. */
export type Bound<T> = { [N in keyof T]: N extends ToolName ? SellerHandler<Tool<N>, Tx> : never };

/** Gives each handler its call. */
export function bind<T extends Named>(handlers: T, settings: Settings, shelf: Shelf): Bound<T> {
  const bound = Object.entries(handlers).map(([name, handler]) => [
    name,
    async (request: never, ctx: Context<never>) => {
      const call = await openCall(settings, shelf, ctx);
      // biome-ignore lint/suspicious/noExplicitAny: which tool it is was forgotten on the way into the record
      const reply = await (handler as Handler<any>)(request, call as never);
      if (call.documents.changed) ctx.effect((tx) => call.documents.commit(tx));
      return reply;
    },
  ]);
  return Object.fromEntries(bound) as Bound<T>;
}

/** What all calls have; each begins with what is committed by then. */
async function callBase(settings: Settings, shelf: Shelf, principal: string) {
  await shelf.catchUp();
  return { ...settings, principal, documents: openDocuments(shelf) };
}

const idOf = (prefix: string, uuid: string): string => `${prefix}_${uuid.replaceAll("-", "").slice(0, 20)}`;

const openCall = async (settings: Settings, shelf: Shelf, ctx: Context<never>): Promise<ToolCall<never>> => ({
  ...(await callBase(settings, shelf, ctx.principal)),
  ctx,
  now: new Date(ctx.now()),
  id: (prefix) => idOf(prefix, ctx.uuid()),
  answer: (document) => ctx.complete(document as never),
  again: () => openCall(settings, shelf, ctx),
});

/** A call nobody made, for reports, which are due whether anybody asks or not: it reads, and has nobody to answer. */
export async function readingCall(settings: Settings, shelf: Shelf, principal: string): Promise<Call> {
  const base = await callBase(settings, shelf, principal);
  return {
    ...base,
    get ctx(): never {
      throw new Error("a report is nobody's call");
    },
    now: new Date(),
    id: (prefix) => idOf(prefix, crypto.randomUUID()),
    again: () => readingCall(settings, shelf, principal),
  };
}

/** What a call outside of any request knows. */
export type StandingFacts = Pick<CallFacts, "principal" | "release" | "mode" | "sender">;

/** A call on behalf of a caller, after its request was answered: an order that a human has signed, for one. */
export const standingCall = async (settings: Settings, shelf: Shelf, facts: StandingFacts): Promise<Call> => ({
  ...(await callBase(settings, shelf, facts.principal)),
  ctx: facts as CallFacts,
  now: new Date(),
  id: (prefix) => idOf(prefix, crypto.randomUUID()),
  again: () => standingCall(settings, shelf, facts),
});
