/** `/check`: a publisher's file, at its domain or pasted, and all that is wrong with it. Nothing is kept. */
import type { FileProblem } from "../../file-problems.js";
import { type Html, html, type Part } from "./html.js";
import { faultsTable } from "./parts.js";

export interface CheckForm {
  readonly domain: string;
  readonly file: string;
  /** Why the form is sent back. */
  readonly problem?: string;
}

export interface CheckedFile {
  readonly domain: string;
  readonly valid: boolean;
  /** Why there is no valid file; null where there is. */
  readonly error: string | null;
  /** Where it was found; null for one that was pasted. */
  readonly url: string | null;
  readonly agents: number;
  readonly properties: number;
  readonly problems: readonly FileProblem[];
  readonly lines: ReadonlyMap<string, number>;
}

const form = ({ domain, file, problem }: CheckForm): Html => html`
<form method="post" action="/check" aria-label="Have a file looked at">
${problem === undefined ? "" : html`<p class="bad" id="check-problem" role="alert">${problem}</p>`}
<div class="field"><label for="domain">Publisher's domain</label>
<p class="hint" id="domain-hint">Whom the file is to speak for, such as news.example.</p>
<input id="domain" name="domain" type="text" inputmode="url" autocomplete="off" autocapitalize="none" spellcheck="false" required maxlength="2048" aria-describedby="domain-hint" value="${domain}"></div>
<div class="field"><label for="file">The file</label>
<p class="hint" id="file-hint">Paste adagents.json as you would publish it; leave it empty to have the one at the domain fetched.</p>
<textarea id="file" name="file" rows="12" spellcheck="false" aria-describedby="file-hint">${file}</textarea></div>
<button type="submit">Look at it</button>
</form>`;

function found({ domain, valid, error, url, agents, properties, problems, lines }: CheckedFile): Html {
  const where = url === null ? "" : html` It is at <code>${url}</code>.`;
  const verdict = valid
    ? html`<p><span class="good">Valid.</span> ${agents} of its entries let agents sell for ${domain}, and it has ${properties} properties of its own.${where}</p>`
    : html`<p><span class="bad">Not valid</span> for ${domain}: ${error}.${where}</p>`;
  return html`<h2>What was found</h2>${verdict}${faultsTable(problems, lines)}`;
}

export const checkPage = (given: CheckForm, file?: CheckedFile): Part =>
  html`<p>What the registry would make of a file, place by place. Nothing of it is kept.</p>${file === undefined ? "" : found(file)}${form(given)}`;
