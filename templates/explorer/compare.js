// Two releases side by side: the data of the two comes as a script when they are chosen.
(() => {
  const form = document.querySelector("form.compare");
  const state = document.getElementById("state");
  const place = document.getElementById("changes");
  const compared = new Set(form.dataset.compared.split(" "));
  const SHOWN = 100;
  let view;
  let shown = SHOWN;

  const make = (name, properties = {}, children = []) => {
    const node = Object.assign(document.createElement(name), properties);
    node.append(...children);
    return node;
  };
  const code = (text) => make("code", { textContent: text });
  const words = {
    "old-caller>new-seller": "an old caller before a new seller",
    "new-caller>old-seller": "a new caller before an old seller",
    "old-seller>new-caller": "a new caller that an old seller answers",
    "new-seller>old-caller": "an old caller that a new seller answers",
  };

  const side = (label, { pointer, page, lines }) => {
    const head = make("h3", { textContent: label });
    if (pointer === "")
      return make("div", { className: "side" }, [head, make("p", { textContent: "does not have it" })]);
    const at = page ? make("a", { href: page }, [code(pointer)]) : code(pointer);
    const said = lines.map((line) => make("p", { textContent: line }));
    return make("div", { className: "side" }, [head, make("p", { className: "from" }, [at]), ...said]);
  };

  const proof = ({ witness }) => {
    if (!witness) return [];
    const text =
      witness.kind === "payload"
        ? witness.payload
        : { [view.from.version]: witness.from, [view.to.version]: witness.to };
    const says =
      witness.kind === "payload"
        ? `${witness.accepts} accepts this and ${witness.refuses} refuses it: ${witness.because}`
        : "Both releases' words";
    const block = make("pre", { tabIndex: 0 }, [code(JSON.stringify(text, null, 2))]);
    block.setAttribute("aria-label", "The payload");
    const details = make("details", { className: "proof" }, [make("summary", { textContent: "Proof" })]);
    // Payloads are many: each is written when it is looked at.
    details.addEventListener(
      "toggle",
      () => details.open && details.childElementCount === 1 && details.append(make("p", { textContent: says }), block),
    );
    return [details];
  };

  const where = (change) => {
    const places = change.where.map(({ tool, side: message, at }) =>
      message === "release" ? at : `${tool} ${message} ${at}`.trim(),
    );
    if (places.length === 1) return make("p", { className: "from" }, [code(places[0])]);
    const list = make(
      "ul",
      {},
      places.map((one) => make("li", {}, [code(one)])),
    );
    return make("details", {}, [
      make("summary", { textContent: `${places.length} messages, e.g. ${places[0]}` }),
      list,
    ]);
  };

  const card = (change) => {
    const breaks = change.breaks.map((one) => words[one] ?? one);
    const facts = [
      ...(breaks.length > 0
        ? [`Breaks ${breaks.join("; ")}${change.undeclaredOnly ? " (undeclared names only)" : ""}.`]
        : []),
      ...(change.reason ? [`${change.reason}.`] : []),
      ...(change.verdict === "safe" ? [] : [`Do: ${change.fix}.`]),
    ];
    const title = make("h2", {}, [
      make("b", { className: `tag ${change.verdict}`, textContent: change.verdict }),
      " ",
      change.message,
    ]);
    const sides = make("div", { className: "sides" }, [
      side(view.from.version, change.a),
      side(view.to.version, change.b),
    ]);
    return make("article", { id: change.id }, [
      title,
      make("p", { className: "from", textContent: change.rule }),
      where(change),
      sides,
      ...facts.map((text) => make("p", { textContent: text })),
      ...proof(change),
    ]);
  };

  const chosen = () => {
    const { verdict, pairing, text } = form.elements;
    const asked = text.value.trim().toLowerCase();
    return view.changes.filter(
      (change) =>
        (verdict.value === "" || change.verdict === verdict.value) &&
        (pairing.value === "" || change.breaks.includes(pairing.value)) &&
        (asked === "" ||
          JSON.stringify([change.message, change.rule, change.where, change.a, change.b])
            .toLowerCase()
            .includes(asked)),
    );
  };

  const draw = () => {
    if (view === undefined) return;
    const found = chosen();
    const { broken, undecided, safe } = view.summary;
    const all = `${view.from.version} to ${view.to.version}: ${view.changes.length} changes; findings ${broken} broken, ${undecided} undecided, ${safe} safe`;
    state.textContent = found.length === view.changes.length ? all : `${all}. ${found.length} changes shown`;
    const more = make("button", {
      type: "button",
      textContent: `Show ${Math.min(SHOWN, found.length - shown)} more of ${found.length - shown}`,
    });
    more.addEventListener("click", () => {
      const from = shown;
      shown += SHOWN;
      draw();
      const next = place.children[from];
      next.tabIndex = -1;
      next.focus();
    });
    place.replaceChildren(...found.slice(0, shown).map(card), ...(found.length > shown ? [more] : []));
    if (found.length === 0)
      place.append(
        make("p", {
          textContent: view.changes.length === 0 ? "Nothing changed in meaning." : "No change is like that.",
        }),
      );
  };

  globalThis.adbindCompare = (held) => {
    view = held;
  };

  const load = () => {
    const { a, b } = form.elements;
    let name = `${a.value}...${b.value}`;
    // Any two can be chosen; which of them is older the site knows.
    if (!compared.has(name)) name = `${b.value}...${a.value}`;
    view = undefined;
    place.replaceChildren();
    if (a.value === b.value) {
      state.textContent = "Choose two releases.";
      return;
    }
    if (!compared.has(name)) {
      state.textContent = "These two were not compared: adbind explorer --compare all compares every two.";
      return;
    }
    state.textContent = "Loading ...";
    history.replaceState(null, "", `#${name}`);
    const script = make("script", { src: `compare/${name}.js` });
    script.onload = () => {
      script.remove();
      shown = SHOWN;
      draw();
    };
    script.onerror = () => {
      state.textContent = "The comparison could not be loaded.";
    };
    document.head.append(script);
  };

  const start = () => {
    const name = decodeURIComponent(location.hash.slice(1));
    const [first] = compared;
    const [older, newer] = (compared.has(name) ? name : ([...compared].at(-1) ?? first ?? "")).split("...");
    if (older) form.elements.a.value = older;
    if (newer) form.elements.b.value = newer;
    load();
  };
  for (const name of ["a", "b"]) form.elements[name].addEventListener("change", load);
  for (const name of ["verdict", "pairing"])
    form.elements[name].addEventListener("change", () => {
      shown = SHOWN;
      draw();
    });
  form.elements.text.addEventListener("input", () => {
    shown = SHOWN;
    draw();
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  addEventListener("hashchange", start);
  start();
})();
