/** `/map`: how many agents sell in which channel and market. */
import type { MarketMap } from "../../types.js";
import { type Html, html } from "./html.js";
import { choice, grouped, link, missingParts } from "./parts.js";

/** Shades of a cell, by how its count compares with the largest. */
const SHADES = 4;

export interface MapView {
  readonly map: MarketMap;
  readonly type: string;
  /** Kinds of property of the protocol. */
  readonly types: readonly string[];
  readonly markets: number;
}

const shade = (agents: number, most: number): string =>
  agents === 0 ? "" : `l${Math.max(1, Math.ceil((SHADES * Math.log(agents + 1)) / Math.log(most + 1)))}`;

export function mapPage({
  map: { channels, markets, counts, missing_parts },
  type,
  types,
  markets: limit,
}: MapView): Html {
  const form = html`<form method="get" action="/map" role="search" aria-label="Which agents the map is of"><div class="row">
${choice("property_types", "Kind of property", type, [["", "any"], ...types.map((one) => [one, one] as const)])}
${choice(
  "markets",
  "Markets shown",
  String(limit),
  [12, 24, 48, 96].map((one) => [String(one), String(one)] as const),
)}
<button type="submit" class="second">Show</button></div></form>`;
  const missing = missingParts(missing_parts);
  if (channels.length === 0 || markets.length === 0)
    return html`${form}${missing}<p role="status">No agent that may be shown sells in a market that is known.</p>`;
  const most = Math.max(...counts.flat());
  const rows = channels.map((channel, row) => {
    const cells = markets.map((market, column) => {
      const agents = counts[row]![column]!;
      const to = link("/agents", { channels: channel, markets: market, property_types: type });
      const shown =
        agents === 0
          ? ""
          : html`<a href="${to}" aria-label="${agents} agents, ${channel} in ${market}">${grouped(agents)}</a>`;
      return html`<td role="cell" class="${shade(agents, most)}" data-head="${market}">${shown}</td>`;
    });
    return html`<tr role="row"><th scope="row" role="rowheader">${channel}</th>${cells}</tr>`;
  });
  return html`<p>How many agents sell in a channel and a market; each number leads to them. The markets are those with the most agents.</p>${form}${missing}
<div class="scroll" role="region" aria-label="Agents by channel and market" tabindex="0"><table class="map" role="table">
<thead role="rowgroup"><tr role="row"><th scope="col" role="columnheader">Channel</th>${markets.map((market) => html`<th scope="col" role="columnheader">${market}</th>`)}</tr></thead>
<tbody role="rowgroup">${rows}</tbody></table></div>`;
}
