/** The page of error codes: ours, and those by which signatures are refused. */
import { errorTable } from "../../../runtime/errors.js";
import { netCodes } from "../../../runtime/net/index.js";
import { type CodeEntry, requestCodes, webhookCodes } from "../../../runtime/signing/codes.js";
import { asMarkdown, type ReferencePage, referencePage, tableOf } from "./page.js";
import { remedies } from "./remedies.js";

type Code = keyof typeof errorTable;

const upper = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

const thrown = (Object.keys(errorTable) as Code[]).flatMap((code) => [
  `### ${code}`,
  "",
  `${upper(errorTable[code])}.`,
  "",
  `- Cause: ${remedies[code].cause}`,
  `- Remedy: ${remedies[code].remedy}`,
  "",
]);

const refusals = (codes: Readonly<Record<string, CodeEntry>>): string[] =>
  tableOf(
    ["code", "status", "may be sent again", "means"],
    Object.entries(codes).map(([code, { status, retryable, summary }]) => [
      ...[`\`${code}\``, String(status), retryable ? "yes" : "no", asMarkdown(summary, "../")],
    ]),
  );

export const errorReference = (): ReferencePage =>
  referencePage("errors.md", "Error codes", [
    "What adbind throws on purpose has the `name` `AdbindError`: its `code` is stable, `message` reads `what (where): remedy`. Bad traffic is a value and never",
    "thrown; its codes are below. Codes of the protocol itself are the release's, and what to do about them is",
    "[recovery](../protocol/errors.md#recovery); `adbind explain CODE` says what a release has on one.",
    "",
    ...["## Thrown", "", ...thrown],
    ...[
      "## Refusals of webhooks",
      "",
      'The value of `WWW-Authenticate: Signature error="…"`, and of a refusal\'s `code`.',
      "",
    ],
    ...[...refusals(webhookCodes), ""],
    ...["## Refusals of requests", "", ...refusals(requestCodes), ""],
    ...["## Outbound requests", "", "The `code` of a request that could not be made: deliveries, keys, files.", ""],
    ...tableOf(
      ["code", "may be made again", "means"],
      Object.entries(netCodes).map(([code, { retryable, summary }]) => [
        `\`${code}\``,
        retryable ? "yes" : "no",
        summary,
      ]),
    ),
  ]);
