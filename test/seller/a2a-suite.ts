/** What tests of a seller over A2A share: requests of both generations. */
import type { Seller } from "../../runtime/seller/index.js";

/** One JSON-RPC request through the HTTP server, without a socket. */
export async function rpc(seller: Seller<never>, method: string, params: object, headers: Record<string, string> = {}) {
  const response = await post(seller, method, params, headers);
  // biome-ignore lint/suspicious/noExplicitAny: answers of every kind
  return response.json() as any;
}

export const post = (seller: Seller<never>, method: string, params: object, headers: Record<string, string> = {}) =>
  seller.app.inject({
    method: "POST",
    url: "/a2a",
    headers: { "content-type": "application/json", ...headers },
    payload: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  });

export const legacy = (skill: string, parameters: unknown, configuration: object = {}) => ({
  message: {
    kind: "message",
    messageId: "m1",
    role: "user",
    contextId: "c1",
    parts: [{ kind: "data", data: { skill, parameters } }],
  },
  configuration,
});

export const current = (skill: string, parameters: unknown, configuration: object = {}) => ({
  message: { messageId: "m1", role: "ROLE_USER", contextId: "c1", parts: [{ data: { skill, parameters } }] },
  configuration,
});

export const v1 = { "a2a-version": "1.0" };
