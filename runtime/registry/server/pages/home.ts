/** `/`: where people begin. */
import { type Html, html } from "./html.js";

export const domainForm = (value: string, problem?: string): Html => html`
<form method="get" action="/publisher" role="search" aria-label="Look up a publisher">
<div class="field"><label for="domain">Publisher's domain</label>
<p class="hint" id="domain-hint">For example news.example; a scheme and a path are ignored.</p>
<input id="domain" name="domain" type="text" inputmode="url" autocomplete="off" autocapitalize="none" spellcheck="false" required maxlength="2048" aria-describedby="domain-hint${problem === undefined ? "" : " domain-problem"}"${problem === undefined ? "" : html` aria-invalid="true"`} value="${value}">
${problem === undefined ? "" : html`<p class="bad" id="domain-problem" role="alert">${problem}</p>`}</div>
<button type="submit">Look up</button>
</form>`;

export const homePage = (): Html => html`
<p>Which agents may sell a publisher's inventory is written in a file at the publisher's own origin. Type a domain to see
what was found there, and what it says.</p>
${domainForm("")}
<h2>For publishers</h2>
<ul>
<li><a href="/check">Check a file</a> before you publish it, or the one at your domain: every fault with its place, its rule and what to do.</li>
<li><a href="/build">Write a file</a> from a form.</li>
</ul>
<h2>For buyers</h2>
<ul>
<li><a href="/agents">Agents by what they can sell</a>, with counts for every choice.</li>
<li><a href="/map">A map</a> of channels and markets.</li>
<li><a href="/why">Why may this agent sell this?</a> The file, the entry, its dates and the way from publisher to agent; or why not.</li>
</ul>
<p>Every page can be shared by its address, and read by programs: add <code>.json</code> to its path, or ask for
<code>application/json</code>. See also <a href="/docs">how programs ask</a>.</p>`;
