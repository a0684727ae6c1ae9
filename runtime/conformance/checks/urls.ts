/** When two URLs name the same agent. */

/** Scheme and host in lower case, no default port, no slash at the end. */
export function comparableUrl(text: string): string {
  if (!URL.canParse(text)) return text;
  const url = new URL(text);
  return `${url.origin}${url.pathname.replace(/\/+$/, "")}${url.search}`;
}

/** The agent behind an endpoint, whichever transport the URL names. */
export const agentRoot = (text: string): string => comparableUrl(text).replace(/\/(mcp|a2a|sse)$/, "");
