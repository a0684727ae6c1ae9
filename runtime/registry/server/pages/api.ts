/** `/docs`: the API document as a page. */
import type { ApiDocument, JsonSchema, Operation } from "../document.js";
import { type Html, html, type Part } from "./html.js";
import { table } from "./parts.js";

const shortType = (schema: JsonSchema | undefined): string => {
  if (schema === undefined) return "";
  if (Array.isArray(schema.oneOf)) return (schema.oneOf as JsonSchema[]).map(shortType).join(" or ");
  const type = Array.isArray(schema.type) ? schema.type.join(" or ") : String(schema.type ?? "anything");
  if (type === "array") return `list of ${shortType(schema.items) || "anything"}`;
  const range = [
    schema.minimum === undefined ? "" : `from ${schema.minimum}`,
    schema.maximum === undefined ? "" : `to ${schema.maximum}`,
    schema.default === undefined ? "" : `default ${schema.default}`,
  ].filter((part) => part !== "");
  return [type, ...range].join(" ");
};

/** @param caption says of which operation: a table is a landmark, and landmarks have names of their own */
const fieldsOf = (caption: string, schema: JsonSchema | undefined): Part => {
  const properties = Object.entries(schema?.properties ?? {});
  if (properties.length === 0) return "";
  const rows = properties.map(([name, one]) => [
    html`<code>${name}</code>`,
    shortType(one),
    schema?.required?.includes(name) ? "yes" : "no",
    one.description as string | undefined,
  ]);
  return table(caption, ["Field", "Type", "Always there", "What it is"], rows);
};

const parametersOf = ({ parameters, id }: Operation): Part =>
  parameters.length === 0
    ? ""
    : table(
        `Parameters of ${id}`,
        ["Parameter", "In", "Type", "Needed", "What it is"],
        parameters.map((one) => [
          html`<code>${one.name}</code>`,
          one.in,
          shortType(one.schema),
          one.required ? "yes" : "no",
          one.description,
        ]),
      );

const pretty = (value: unknown): Html => html`<pre tabindex="0"><code>${JSON.stringify(value, null, 2)}</code></pre>`;

const firstExample = (content: Operation["responses"][string]["content"]): unknown => {
  const examples = Object.values(content ?? {})[0]?.examples as Record<string, { value: unknown }> | undefined;
  return Object.values(examples ?? {})[0]?.value;
};

function curl({ method, path, parameters, body, credentials }: Operation, baseUrl: string): string {
  let url = baseUrl + path;
  const query = new URLSearchParams();
  for (const one of parameters) {
    if (one.example === undefined) continue;
    const value = Array.isArray(one.example) ? one.example.join(",") : String(one.example);
    if (one.in === "path") url = url.replace(`{${one.name}}`, one.name === "path" ? value : encodeURIComponent(value));
    else if (one.in === "query") query.set(one.name, value);
  }
  const lines = [`curl ${query.size > 0 ? `'${url}?${query}'` : `'${url}'`}`];
  if (method === "POST")
    lines.push("-H 'Content-Type: application/json'", `-d '${JSON.stringify(body?.example ?? {})}'`);
  if (credentials === "required") lines.push("-H 'Authorization: Bearer sk_...'");
  return lines.join(" \\\n  ");
}

const credentialsText = {
  none: "No credentials.",
  optional: "Credentials optional.",
  required: "Credentials needed.",
} as const;

function operationOf(operation: Operation, baseUrl: string): Html {
  const { id, method, path, summary, description, body, credentials, responses } = operation;
  const success = Object.entries(responses).find(([status]) => status.startsWith("2"));
  const content = success?.[1].content;
  const example = firstExample(content);
  return html`<section aria-label="${summary}: ${method} ${path}">
<h2 id="${id}">${summary}</h2>
<p><code>${method} ${path}</code> ${credentialsText[credentials]}</p>
${description === undefined ? "" : html`<p>${description}</p>`}
<pre tabindex="0"><code>${curl(operation, baseUrl)}</code></pre>
${parametersOf(operation)}
${body === undefined ? "" : html`<h3>Body</h3>${fieldsOf(`Body of ${id}`, body.schema)}`}
<h3>Answers</h3>
<dl>${Object.entries(responses).map(([status, one]) => html`<dt>${status}</dt><dd>${one.description}</dd>`)}</dl>
${fieldsOf(`Answer of ${id}`, content?.["application/json"]?.schema)}
${example === undefined ? "" : typeof example === "string" ? html`<pre tabindex="0"><code>${example}</code></pre>` : pretty(example)}
</section>`;
}

export function apiPage({ json, operations }: ApiDocument, baseUrl: string): Html {
  return html`<p>${json.info.summary as string}</p><p>${json.info.description as string}</p>
<p>The same as a document for programs: <a href="/openapi.json">/openapi.json</a> (OpenAPI ${json.openapi as string}).</p>
<nav aria-label="Operations"><ul>${operations.map(({ id, summary }) => html`<li><a href="#${id}">${summary}</a></li>`)}</ul></nav>
${operations.map((operation) => operationOf(operation, baseUrl))}`;
}
