// Theme, search and keys of every page. Texts of releases are put in as text, never as markup.
(() => {
  const root = document.documentElement;
  const { top = "", release = "" } = root.dataset;
  const make = (name, properties = {}, children = []) => {
    const node = Object.assign(document.createElement(name), properties);
    node.append(...children);
    return node;
  };

  // Theme
  const button = document.querySelector("button.theme");
  const isDark = () =>
    root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  const label = () => {
    button.textContent = isDark() ? "Light" : "Dark";
    button.setAttribute("aria-label", `Use the ${isDark() ? "light" : "dark"} theme`);
  };
  button.hidden = false;
  label();
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    try {
      localStorage.setItem("adbind-theme", root.dataset.theme);
    } catch {
      // It holds for this page.
    }
    label();
  });

  // Search: the index comes as a script when it is first wanted, since pages from a disk may load nothing else.
  let index;
  let wanted;
  globalThis.adbindSearch = ({ stopWords, index: held }) => {
    const stop = new Set(stopWords);
    index = globalThis.MiniSearch.loadJS(held, {
      fields: ["name", "title", "fields", "text"],
      storeFields: ["kind", "name", "page", "about"],
      tokenize: (text) => text.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== ""),
      processTerm: (term) => {
        const word = term.toLowerCase();
        return stop.has(word) || word.length > 32 ? null : word;
      },
    });
  };
  const load = (src) =>
    new Promise((onload, onerror) => {
      document.head.append(make("script", { src: `${top}${src}`, onload, onerror }));
    });
  const loadIndex = () => {
    wanted ??= load("assets/minisearch.js").then(() => load(`${release}search-index.js`));
    return wanted;
  };
  const weights = { tool: 3, error: 2, event: 2, specialism: 2, schema: 1 };
  const find = (text) => {
    const wholeName = text.trim().toLowerCase().replaceAll("-", "_");
    const options = {
      boost: { name: 6, title: 3, fields: 2 },
      prefix: (term) => term.length > 1,
      fuzzy: (term) => (term.length > 4 ? 0.2 : false),
      boostDocument: (_id, _term, { kind, name }) =>
        weights[kind] * (name.toLowerCase().replaceAll("-", "_") === wholeName ? 20 : 1),
    };
    const all = index.search(text, { ...options, combineWith: "AND" });
    return all.length > 0 ? all : index.search(text, options);
  };
  const address = ({ page }, text) => `${top}${release}${page}.html?q=${encodeURIComponent(text)}`;
  const described = (hit) => [
    make("b", { className: `tag ${hit.kind}`, textContent: hit.kind }),
    " ",
    make("code", { textContent: hit.name }),
    make("small", { textContent: hit.about }),
  ];

  const input = document.getElementById("q");
  const asked = new URLSearchParams(location.search).get("q") ?? "";
  const SHOWN = 8;
  const list = make("ul", { id: "hits", className: "hits", hidden: true });
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", "Found pages");
  input.after(list);
  for (const [name, value] of [
    ["role", "combobox"],
    ["aria-expanded", "false"],
    ["aria-controls", "hits"],
    ["aria-autocomplete", "list"],
  ])
    input.setAttribute(name, value);
  let chosen = -1;
  const show = (open) => {
    list.hidden = !open;
    input.setAttribute("aria-expanded", String(open));
    if (!open) input.removeAttribute("aria-activedescendant");
  };
  const choose = (at) => {
    const items = [...list.children];
    if (items.length === 0) return;
    chosen = (at + items.length) % items.length;
    for (const [place, item] of items.entries()) item.setAttribute("aria-selected", String(place === chosen));
    items[chosen].scrollIntoView({ block: "nearest" });
    input.setAttribute("aria-activedescendant", items[chosen].id);
  };

  const results = document.getElementById("results");
  const state = document.getElementById("state");
  const fill = (text, hits) => {
    results.replaceChildren(
      ...hits.slice(0, 200).map((hit) => make("li", {}, [make("a", { href: address(hit, text) }, described(hit))])),
    );
    state.textContent = text.trim() === "" ? "Type above." : `${hits.length} found for "${text}"`;
  };
  const suggest = (hits, text) => {
    list.replaceChildren(
      ...hits.slice(0, SHOWN).map((hit, at) => {
        const item = make("li", { id: `hit-${at}` }, described(hit));
        item.setAttribute("role", "option");
        item.setAttribute("aria-selected", "false");
        item.dataset.to = address(hit, text);
        return item;
      }),
    );
    chosen = -1;
    show(hits.length > 0 && document.activeElement === input);
  };
  const update = async () => {
    try {
      await loadIndex();
    } catch {
      if (state) state.textContent = "The index could not be loaded.";
      return;
    }
    const text = input.value;
    const hits = text.trim() === "" ? [] : find(text);
    if (results) fill(text, hits);
    else suggest(hits, text);
  };
  input.addEventListener("focus", () => void loadIndex().catch(() => undefined));
  input.addEventListener("input", update);
  input.addEventListener("blur", () => show(false));
  list.addEventListener("pointerdown", (event) => {
    const item = event.target.closest("li");
    if (item) location.href = item.dataset.to;
  });
  input.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      if (list.hidden) return;
      event.preventDefault();
      choose(chosen < 0 && event.key === "ArrowUp" ? -1 : chosen + (event.key === "ArrowDown" ? 1 : -1));
    } else if (event.key === "Enter" && !list.hidden && chosen >= 0) {
      event.preventDefault();
      location.href = list.children[chosen].dataset.to;
    } else if (event.key === "Escape") show(false);
  });
  document.addEventListener("keydown", (event) => {
    const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName);
    if (event.key !== "/" || typing || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    input.focus();
    input.select();
  });
  if (results) {
    input.value = asked;
    if (asked !== "") void update();
    input.form.addEventListener("submit", (event) => {
      event.preventDefault();
      history.replaceState(null, "", `?q=${encodeURIComponent(input.value)}`);
      void update();
    });
  }

  // Who comes from the search sees what was searched for.
  const mark = (words) => {
    const rows = [...document.querySelectorAll("table.fields > tbody > tr")];
    const matches = (row) => words.every((word) => row.textContent.toLowerCase().includes(word));
    const named = (row) => words.every((word) => row.querySelector("th").textContent.toLowerCase().includes(word));
    const found = rows.filter(matches);
    for (const row of found) row.classList.add("found");
    const first = found.find(named) ?? found[0];
    if (first && location.hash === "") first.scrollIntoView({ block: "center" });
  };
  const words = asked
    .toLowerCase()
    .split(/[^\p{L}\p{N}_]+/u)
    .filter((word) => word.length > 1);
  const heading = document.querySelector("h1")?.textContent.toLowerCase() ?? "";
  if (!results && words.length > 0 && !words.every((word) => heading.includes(word))) mark(words);

  // One menu of releases is open at a time, and Escape closes it.
  const releases = document.querySelector("details.releases");
  if (releases) {
    document.addEventListener("click", (event) => {
      if (!releases.contains(event.target)) releases.open = false;
    });
    releases.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      releases.open = false;
      releases.querySelector("summary").focus();
    });
  }
})();
