/** What pages are put together from. */
import type { FileProblem } from "../../file-problems.js";
import { type Html, html, type Part } from "./html.js";

export const facts = (rows: readonly (readonly [string, Part])[]): Html =>
  html`<dl>${rows
    .filter(([, value]) => value !== null && value !== undefined && value !== "")
    .map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`;

/** On a phone each row is a card, whose cells say what they are; the roles are said, since that takes them from a table. */
export const table = (caption: string, heads: readonly string[], rows: readonly (readonly Part[])[]): Html => html`
<div class="scroll" role="region" aria-label="${caption}" tabindex="0"><table role="table">
<thead role="rowgroup"><tr role="row">${heads.map((head) => html`<th scope="col" role="columnheader">${head}</th>`)}</tr></thead>
<tbody role="rowgroup">${rows.map((cells) => html`<tr role="row">${cells.map((cell, at) => html`<td role="cell" data-head="${heads[at] ?? ""}">${cell}</td>`)}</tr>`)}</tbody>
</table></div>`;

export const sources: Readonly<Record<string, string>> = {
  adagents_json: "the publisher's file",
  aao_hosted: "a file hosted here, origin not verified yet",
  agent_claim: "the agent's own claim only",
  discovered: "a crawl",
  brand_json: "the brand file",
};

/** Said where parts of the search's index did not answer: what is shown is less than there is. */
export const missingParts = (names: readonly string[] = []): Part =>
  names.length === 0
    ? ""
    : html`<p class="problem" role="status">Some agents are missing here: ${names.length === 1 ? "part" : "parts"} ${names.join(", ")} of the search index did not answer. Try again in a moment.</p>`;

/** An instant for people; minutes are enough. */
export const when = (instant: string | null): string | null =>
  instant === null ? null : `${instant.slice(0, 16).replace("T", " ")} UTC`;

/** Faults shown of a file; there are a hundred at most. */
const FAULTS = 200;

const effects = { left: "left out", noted: "kept" } as const;

const faultRow = ({ pointer, message, rule, remedy, effect }: FileProblem, line?: number) => [
  html`<code>${pointer === "" ? "the file" : pointer}</code>${line === undefined ? "" : ` line ${line}`}`,
  message,
  html`<code>${rule}</code>`,
  remedy,
  effects[effect],
];

/** What is wrong with a file, where, by which rule, and what to do. @param lines of the places, where they are known */
export const faultsTable = (problems: readonly FileProblem[], lines: ReadonlyMap<string, number> = new Map()): Part =>
  problems.length === 0
    ? ""
    : html`<h3>Faults in the file</h3>${table(
        "Faults in the file",
        ["Where", "What", "Rule", "What to do", "Effect"],
        problems.slice(0, FAULTS).map((one) => faultRow(one, lines.get(one.pointer))),
      )}`;

/** Values as a cell has them: some agents have hundreds. */
export const some = (values: readonly string[], shown = 12): string =>
  values.length <= shown ? values.join(", ") : `${values.slice(0, shown).join(", ")} and ${values.length - shown} more`;

/** A path with those parameters that have a value. */
export function link(path: string, query: Readonly<Record<string, string | null | undefined>>): string {
  const given = Object.entries(query).flatMap(([name, value]) => (value ? [[name, value] as [string, string]] : []));
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`;
}

export const grouped = (number: number): string => number.toLocaleString("en");

export interface TextField {
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
  readonly value: string;
  readonly type?: "text" | "number" | "date";
  readonly required?: boolean;
  /** Values that are suggested. */
  readonly list?: readonly string[];
  readonly problem?: string | undefined;
}

/** A field that says what it is for, what is wrong with it, and what may be in it. */
export function textField({ name, label, hint, value, type = "text", required, list, problem }: TextField): Html {
  const about = [hint === undefined ? "" : `${name}-hint`, problem === undefined ? "" : `${name}-problem`]
    .join(" ")
    .trim();
  return html`<div class="field"><label for="${name}">${label}</label>
${hint === undefined ? "" : html`<p class="hint" id="${name}-hint">${hint}</p>`}
<input id="${name}" name="${name}" type="${type}" autocomplete="off" autocapitalize="none" spellcheck="false" maxlength="2048"${required ? html` required` : ""}${about === "" ? "" : html` aria-describedby="${about}"`}${problem === undefined ? "" : html` aria-invalid="true"`}${list === undefined ? "" : html` list="${name}-list"`} value="${value}">
${list === undefined ? "" : html`<datalist id="${name}-list">${list.map((one) => html`<option value="${one}"></option>`)}</datalist>`}
${problem === undefined ? "" : html`<p class="bad" id="${name}-problem" role="alert">${problem}</p>`}</div>`;
}

export const choice = (
  name: string,
  label: string,
  value: string,
  options: readonly (readonly [string, string])[],
): Html =>
  html`<div class="field"><label for="${name}">${label}</label>
<select id="${name}" name="${name}">${options.map(([one, text]) => html`<option value="${one}"${one === value ? html` selected` : ""}>${text}</option>`)}</select></div>`;
