/** How pages look. */

/** Contrast of text is at least 7:1 in both schemes; the focus is always seen. */
export const style = `:root { color-scheme: light dark; --text: #1b1f24; --soft: #4a525c; --back: #ffffff; --box: #f3f5f7; --line: #8a94a0; --link: #0b4fa8; --good: #14532d; --bad: #8f1d14; }
@media (prefers-color-scheme: dark) { :root { --text: #e8eaed; --soft: #b9c0c8; --back: #15181c; --box: #20252b; --line: #78828e; --link: #9cc4ff; --good: #a6e3b8; --bad: #ffb4ab; } }
* { box-sizing: border-box; }
body { margin: 0; font: 1rem/1.5 system-ui, sans-serif; color: var(--text); background: var(--back); }
header, main, footer { max-width: 68rem; margin: 0 auto; padding: 0.75rem 1rem; }
header { display: flex; flex-wrap: wrap; gap: 0.5rem 2rem; align-items: baseline; border-bottom: 1px solid var(--line); }
.name { margin: 0; font-weight: 600; }
header ul { display: flex; flex-wrap: wrap; gap: 0.25rem 1rem; list-style: none; margin: 0; padding: 0; }
a { color: var(--link); }
a[aria-current="page"] { color: var(--text); font-weight: 600; }
.skip { position: absolute; left: -100rem; }
.skip:focus { position: static; display: block; padding: 0.5rem 1rem; }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
main:focus { outline: none; }
h1 { font-size: 1.6rem; margin: 0.75rem 0; overflow-wrap: anywhere; }
h2 { font-size: 1.2rem; margin: 1.5rem 0 0.5rem; overflow-wrap: anywhere; }
h3 { font-size: 1rem; margin: 1rem 0 0.25rem; }
form { background: var(--box); border: 1px solid var(--line); border-radius: 0.4rem; padding: 1rem; margin: 0.75rem 0; }
label, legend { display: block; font-weight: 600; }
.hint { color: var(--soft); margin: 0 0 0.25rem; font-size: 0.9rem; }
.field { margin-bottom: 0.75rem; }
.fields { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(16rem, 100%), 1fr)); gap: 0 1rem; }
input, textarea, select { font: inherit; width: 100%; padding: 0.45rem; color: inherit; background: var(--back); border: 1px solid var(--line); border-radius: 0.25rem; }
input[type="checkbox"] { width: auto; }
button { font: inherit; font-weight: 600; padding: 0.5rem 1.25rem; color: var(--back); background: var(--text); border: 0; border-radius: 0.25rem; cursor: pointer; }
button.second { color: var(--text); background: var(--back); border: 1px solid var(--line); }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: 0.4rem 0.75rem 0.4rem 0; border-bottom: 1px solid var(--line); overflow-wrap: break-word; }
code, td a { overflow-wrap: anywhere; } td code { overflow-wrap: break-word; }
dl { display: grid; grid-template-columns: minmax(8rem, max-content) minmax(0, 1fr); gap: 0.25rem 1rem; margin: 0.5rem 0; }
dt { font-weight: 600; overflow-wrap: anywhere; } dd { margin: 0; overflow-wrap: anywhere; }
pre { background: var(--box); border: 1px solid var(--line); padding: 0.75rem; overflow-x: auto; }
code { font-family: ui-monospace, monospace; font-size: 0.92em; }
.good { color: var(--good); font-weight: 600; } .bad { color: var(--bad); font-weight: 600; }
footer { border-top: 1px solid var(--line); margin-top: 2rem; }
.number { text-align: right; font-variant-numeric: tabular-nums; }
.verdict { border-left: 0.3rem solid var(--line); padding: 0.5rem 1rem; background: var(--box); }
.verdict.yes { border-color: var(--good); } .verdict.no { border-color: var(--bad); }
ol.path li { overflow-wrap: anywhere; margin-bottom: 0.25rem; }
.row { display: flex; flex-wrap: wrap; gap: 0.5rem 1rem; align-items: end; }
.row .field { flex: 1 1 12rem; margin-bottom: 0; }
.row button { flex: none; }
fieldset { border: 1px solid var(--line); border-radius: 0.4rem; margin: 0 0 0.75rem; padding: 0.5rem 1rem 0.75rem; min-width: 0; }
fieldset legend { padding: 0 0.35rem; }
details { border: 1px solid var(--line); border-radius: 0.4rem; padding: 0.35rem 0.75rem; margin-bottom: 0.5rem; background: var(--back); }
summary { font-weight: 600; cursor: pointer; padding: 0.25rem 0; }
.choices { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(13rem, 100%), 1fr)); gap: 0.15rem 1rem; list-style: none; margin: 0.25rem 0 0.5rem; padding: 0; }
.choices label { font-weight: 400; overflow-wrap: break-word; padding: 0.15rem 0; }
.choices label.none { color: var(--soft); }
table.map td, table.map th { text-align: right; padding: 0.3rem 0.6rem; white-space: nowrap; } table.map th:first-child { text-align: left; }
table.map td.l1 { background: color-mix(in srgb, var(--link) 6%, var(--back)); } table.map td.l2 { background: color-mix(in srgb, var(--link) 12%, var(--back)); }
table.map td.l3 { background: color-mix(in srgb, var(--link) 18%, var(--back)); } table.map td.l4 { background: color-mix(in srgb, var(--link) 24%, var(--back)); }
.chips { display: flex; flex-wrap: wrap; gap: 0.35rem; list-style: none; margin: 0.25rem 0 0.75rem; padding: 0; }
.chips a { display: inline-block; border: 1px solid var(--line); border-radius: 1rem; padding: 0.1rem 0.75rem; text-decoration: none; overflow-wrap: anywhere; }
.problem { border-left: 0.3rem solid var(--bad); padding: 0.5rem 1rem; background: var(--box); }
@media (max-width: 40rem) { table, tbody, tr, td, tbody th { display: block; } thead { position: absolute; left: -100rem; } tr { border: 1px solid var(--line); border-radius: 0.4rem; padding: 0.5rem 0.75rem; margin-bottom: 0.5rem; } td, tbody th { border: 0; padding: 0.1rem 0; } table.map td, table.map th { text-align: left; padding: 0.1rem 0; white-space: normal; } td:empty { display: none; } td[data-head]:not([data-head=""])::before { content: attr(data-head) ": "; font-weight: 600; } }
@media (max-width: 30rem) { dl { grid-template-columns: minmax(0, 1fr); } dt { margin-top: 0.5rem; } }
`;
