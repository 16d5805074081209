// The neighbourhood of a record: Cytoscape draws it, the server answers for it, the table beside it says the same in words.
// Nothing that comes as data is ever put into markup: it goes in as text.
(() => {
  "use strict";
  const frame = document.getElementById("graph");
  if (!frame || !window.cytoscape) return;
  const one = (selector, within = frame) => within.querySelector(selector);
  const all = (selector, within = frame) => [...within.querySelectorAll(selector)];
  const make = (tag, properties = {}, ...children) => { const made = Object.assign(document.createElement(tag), properties); made.append(...children); return made; };
  const say = (name, values = {}) => (frame.dataset[`text${name[0].toUpperCase()}${name.slice(1)}`] || "").replace(/\{(\w+)\}/g, (_, key) => values[key] ?? "");
  const canvas = one("[data-graph-canvas]"), form = one("[data-graph-filters]"), note = one("[data-graph-note]"), side = one("[data-graph-side]");
  const still = matchMedia("(prefers-reduced-motion: reduce)"), dark = matchMedia("(prefers-color-scheme: dark)");
  const FIRST = 30, MORE = 15, CROWDED = 150, FULL = 300, LABELLED = 25, LONG = 1800;
  const start = new URLSearchParams(location.search);
  const center = frame.dataset.center;
  let expanded = start.getAll("expand").slice(0, 20), selected = start.get("selected") || center, total = 0, more = "", first = frame.dataset.first, focused = null, asking = null;
  const cameFrom = new Map(); // node id -> the node whose expansion brought it

  // Colours come from the page's tokens; light-dark() is resolved by asking a real element.
  const probe = frame.appendChild(make("span", { hidden: true }));
  const token = (name) => { probe.style.color = `var(--${name})`; return getComputedStyle(probe).color; };
  const SHAPES = { decision: "ellipse", pattern: "diamond", pitfall: "triangle", session: "round-rectangle", run: "hexagon", outcome: "rectangle" };
  let magnified = 1; // labels keep a size that can be read when the picture is small
  function look() {
    const t = Object.fromEntries(["ink", "muted", "edge", "paper", "accent", "bad", "outcome", ...Object.keys(SHAPES)].map((name) => [name, token(name)]));
    const family = getComputedStyle(document.body).fontFamily, size = (node) => node.data("size") * Math.min(1.6, magnified);
    const edge = (relation, style) => ({ selector: `edge[relation="${relation}"]`, style });
    return [
      { selector: "node", style: { width: size, height: size, "background-color": t.muted, "border-width": 2, "border-color": t.paper, color: t.ink, "font-family": family, "font-size": 11.5 * magnified, "text-valign": "bottom", "text-margin-y": 5, "text-wrap": "wrap", "text-max-width": 150 * magnified, "text-outline-color": t.paper, "text-outline-width": 2, "text-outline-opacity": 0.9, "min-zoomed-font-size": 6, label: "" } },
      ...Object.entries(SHAPES).map(([kind, shape]) => ({ selector: `node[kind="${kind}"]`, style: { shape, "background-color": t[kind] } })),
      { selector: 'node[kind="session"]', style: { height: (node) => size(node) * 0.66 } },
      { selector: 'node[review_state="unreviewed"]', style: { "border-style": "dashed", "border-color": t.muted } },
      { selector: "node[!active]", style: { "background-opacity": 0.35, color: t.muted } },
      { selector: "node.labelled", style: { label: "data(label)" } },
      { selector: "node.center", style: { "border-width": 4, "border-style": "solid", "border-color": t.ink, "font-weight": 600 } },
      { selector: "node.pinned", style: { "border-width": 4, "border-style": "double", "border-color": t.accent } },
      { selector: "edge", style: { width: 1.4, "line-color": t.edge, "target-arrow-color": t.edge, "curve-style": "bezier", "arrow-scale": 0.9, "font-family": family, "font-size": 10.5 * magnified, color: t.muted, "text-outline-color": t.paper, "text-outline-width": 2.5, "text-rotation": "autorotate", label: "" } },
      edge("SIMILAR_TO", { width: "mapData(score, 0.5, 1, 1, 3.2)", opacity: 0.75 }),
      edge("CONTRADICTS", { "line-color": t.bad, color: t.bad, "line-style": "dashed", "line-dash-pattern": [7, 4], width: 2.4 }),
      edge("LEADS_TO", { "line-color": t.outcome, "target-arrow-color": t.outcome, "target-arrow-shape": "triangle" }),
      edge("SUPERSEDES", { "line-color": t.ink, "target-arrow-color": t.ink, "target-arrow-shape": "triangle", width: 1.8 }),
      edge("RELATES_TO", { "line-style": "dotted" }),
      edge("DUPLICATE_OF", { "line-style": "dashed", "line-dash-pattern": [11, 4], "target-arrow-shape": "tee" }),
      { selector: "edge.labelled", style: { label: "data(label)" } },
      { selector: "node:selected, node.focused", style: { "overlay-color": t.accent, "overlay-opacity": 0.2, "overlay-padding": 7, "overlay-shape": "ellipse", "z-index": 9 } },
      { selector: "node.focused", style: { "overlay-opacity": 0.34 } },
      { selector: ".faded", style: { opacity: 0.22 } },
      { selector: ".on-path", style: { opacity: 1, "line-color": t.accent, "target-arrow-color": t.accent, width: 3.4, "z-index": 8 } },
      { selector: "node.on-path", style: { width: size, "border-color": t.accent, "border-style": "solid", "border-width": 4 } },
      { selector: "core", style: { "active-bg-opacity": 0.08, "active-bg-color": t.accent, "selection-box-opacity": 0 } },
    ];
  }
  const cy = cytoscape({ container: canvas, style: look(), minZoom: 0.15, maxZoom: 3, boxSelectionEnabled: false, selectionType: "single" });
  window.memoryGraph = cy; // for the browser tests
  const repaint = () => requestAnimationFrame(() => cy.style(look()));
  document.addEventListener("themechange", repaint);
  dark.addEventListener("change", repaint);

  let zooming;
  cy.on("zoom", () => {
    clearTimeout(zooming);
    zooming = setTimeout(() => {
      const wanted = Math.min(2.2, Math.max(1, 0.9 / cy.zoom()));
      if (Math.abs(wanted - magnified) > 0.1) { magnified = wanted; repaint(); }
    }, 120);
  });

  const name = (node) => node.data("title") || node.id();
  const relationWords = (relation) => one(`input[name=relation][value="${CSS.escape(relation)}"]`, form)?.parentElement.textContent.trim() || relation.toLowerCase().replaceAll("_", " ");
  const kindWords = (kind) => one(`.k-${CSS.escape(kind)}[data-one]`, form)?.dataset.one || kind;
  const announce = (text) => { one("[data-graph-live]").textContent = text; };
  function warn(text) { note.hidden = !text; one("p", note).textContent = text || ""; }

  // The address holds every choice: filters from the form, then what was expanded and selected.
  function choices() {
    const query = new URLSearchParams(new FormData(form));
    for (const group of ["relation", "kind"]) if (all(`input[name=${group}]`, form).every((box) => box.checked)) query.delete(group);
    return query;
  }
  function remember() {
    const query = choices();
    expanded.forEach((id) => query.append("expand", id));
    if (selected && selected !== center) query.set("selected", selected);
    if (frame.classList.contains("as-table")) query.set("view", "table");
    history.replaceState(history.state, "", `?${query}`);
  }
  async function ask(changes, url = frame.dataset.source) {
    asking?.abort();
    asking = new AbortController();
    const query = choices();
    Object.entries(changes).forEach(([key, value]) => query.set(key, value));
    canvas.setAttribute("aria-busy", "true");
    const options = { headers: { Accept: "application/json" }, credentials: "same-origin", signal: asking.signal };
    if (String(query).length > LONG) { // many known ids do not fit into an address
      options.method = "POST";
      options.body = query;
      options.headers["X-CSRFToken"] = document.querySelector("meta[name=csrf-token]").content;
    }
    try {
      const answer = await fetch(options.body ? url : `${url}?${query}`, options);
      if (answer.redirected) throw new Error("signed out");
      if (answer.ok) return await answer.json();
      const problem = await answer.json().catch(() => ({}));
      warn(problem.title || say("failed"));
      return null;
    } catch (error) {
      if (error.name === "AbortError") return null;
      warn(say("failed"));
      return null;
    } finally { canvas.removeAttribute("aria-busy"); }
  }

  function add(answer, near) {
    const where = near && cy.getElementById(near).length ? cy.getElementById(near).position() : { x: 0, y: 0 };
    const fresh = answer.nodes.filter((node) => !cy.getElementById(node.id).length);
    cy.batch(() => {
      fresh.forEach((node, at) => {
        const turn = (2 * Math.PI * at) / fresh.length, title = node.title || node.id;
        cy.add({ group: "nodes", data: { active: true, ...node, label: title.length > 46 ? `${title.slice(0, 45)}…` : title, size: Math.round(16 + 5 * Math.log2(1 + (node.degree || 1))) }, position: { x: where.x + 70 * Math.cos(turn), y: where.y + 70 * Math.sin(turn) }, classes: node.id === center ? "center" : "" });
        if (near && near !== node.id) cameFrom.set(node.id, near);
      });
      for (const { source, target, relation, score } of answer.edges) {
        const id = `${source} ${relation} ${target}`;
        if (cy.getElementById(id).length || !cy.getElementById(source).length || !cy.getElementById(target).length) continue;
        cy.add({ group: "edges", data: { id, source, target, relation, score: score ?? 0.5, cosine: score, label: relation === "SIMILAR_TO" ? (score ?? 0).toFixed(2) : relationWords(relation) } });
      }
    });
    return fresh.map((node) => node.id);
  }
  // Where the layout begins, always the same for the same answer: rings by distance, each branch in a sector of its own.
  function spread() {
    const children = new Map(), seen = new Set([center]), order = [center];
    for (const id of order) {
      const fresh = cy.getElementById(id).neighborhood("node").map((node) => node.id()).filter((other) => !seen.has(other));
      fresh.forEach((other) => { seen.add(other); order.push(other); });
      children.set(id, fresh);
    }
    const weight = (id) => 1 + 0.3 * Math.max(0, children.get(id).reduce((sum, child) => sum + weight(child), 0) - 1);
    const place = (id, from, width, ring) => {
      const turn = from + width / 2, radius = ring * (110 + 2 * Math.min(60, order.length));
      cy.getElementById(id).position({ x: radius * Math.cos(turn), y: radius * Math.sin(turn) });
      const share = width / children.get(id).reduce((sum, child) => sum + weight(child), 0);
      children.get(id).reduce((at, child) => { const part = share * weight(child); place(child, at, part, ring + 1); return at + part; }, from);
    };
    if (cy.getElementById(center).length) place(center, -Math.PI / 2, 2 * Math.PI, 0);
  }
  // Nodes that were there stay where they are; only the new ones are laid out.
  function arrange(newIds, kept) {
    if (!newIds.length) return Promise.resolve();
    if (!kept.length) { spread(); labels(); } // the layout leaves room for what is written
    const fixed = kept.filter((id) => cy.getElementById(id).length).map((id) => ({ nodeId: id, position: { ...cy.getElementById(id).position() } }));
    const layout = cy.layout({ name: "fcose", quality: "proof", randomize: false, animate: false, fit: false, nodeSeparation: 130, idealEdgeLength: 125, nodeRepulsion: 16000, nodeDimensionsIncludeLabels: !fixed.length && cy.nodes().length <= LABELLED, packComponents: true, ...(fixed.length ? { fixedNodeConstraint: fixed } : {}) });
    return new Promise((done) => {
      layout.one("layoutstop", () => {
        fixed.forEach(({ nodeId, position }) => cy.getElementById(nodeId).position(position)); // to the pixel, whatever the layout rounded
        const box = cy.extent(), outside = cy.nodes().some((node) => { const { x, y } = node.position(); return x < box.x1 || x > box.x2 || y < box.y1 || y > box.y2; });
        if (!fixed.length) fit(false); else if (outside) fit(true);
        done();
      });
      layout.run();
    });
  }
  function fit(moving) {
    if (!cy.nodes().length) return;
    labels(); // what is written beside a node is to be seen too
    if (moving && !still.matches) cy.animate({ fit: { eles: cy.elements(), padding: 46 }, duration: 260 }); else cy.fit(cy.elements(), 46);
    if (cy.zoom() > 1.4) { cy.zoom(1.4); cy.center(); }
  }

  function labels() {
    const few = cy.nodes().length <= (cy.width() < 560 ? LABELLED / 3 : LABELLED), sparse = cy.nodes().length <= LABELLED / 2, chosen = cy.nodes(":selected, .focused, .over, .pinned, .center, .on-path");
    cy.batch(() => {
      cy.elements().removeClass("labelled");
      (few ? cy.nodes() : cy.width() < 560 ? chosen : chosen.union(cy.nodes(":selected").neighborhood("node"))).addClass("labelled");
      cy.edges(sparse ? '[relation != "SIMILAR_TO"]' : '[relation = "CONTRADICTS"]').union(cy.nodes(cy.width() < 560 ? ".over" : ":selected, .over").connectedEdges()).addClass("labelled");
    });
  }
  function linkTo(node) { return make("a", { href: node.data("url") }, make("span", { className: "id", textContent: node.id() }), ` ${name(node)}`); }
  function table() {
    const dot = (node) => make("span", { className: `dot k-${node.data("kind")}`, ariaHidden: "true" });
    const rows = cy.edges().sort((a, b) => (b.data("cosine") ?? 2) - (a.data("cosine") ?? 2)).map((edge) => make("tr", {}, make("td", {}, dot(edge.source()), linkTo(edge.source())), make("td", { className: `relation-${edge.data("relation").toLowerCase()}`, textContent: relationWords(edge.data("relation")) }), make("td", { className: "num", textContent: edge.data("cosine") == null ? "" : edge.data("cosine").toFixed(2) }), make("td", {}, dot(edge.target()), linkTo(edge.target()))));
    one("[data-graph-rows]").replaceChildren(...rows);
  }
  function settle() { // after every change of what is drawn
    if (!cy.getElementById(selected).length) selected = center;
    one("[data-graph-count]").textContent = say("count", { shown: cy.nodes().length, total: `${Math.max(total, cy.nodes().length)}${total >= cy.nodes().length ? more : ""}` });
    if (cy.nodes().length >= CROWDED) warn(say("many", { number: cy.nodes().length }));
    one("#graph-path-nodes").replaceChildren(...cy.nodes().map((node) => make("option", { value: node.id(), label: name(node) })));
    table(); select(selected); remember();
  }
  function select(id, speak) {
    const node = cy.getElementById(id);
    cy.nodes().unselect();
    selected = node.length ? id : null;
    one("[data-side-actions]").hidden = one("[data-side-relations-title]").hidden = !node.length;
    one("[data-side-hint]").hidden = node.length > 0;
    if (!node.length) { one("[data-side-relations]").replaceChildren(); one("[data-side-facts]").replaceChildren(); one("[data-side-badges]").replaceChildren(); labels(); return; }
    node.select();
    const { kind, status, review_state: review, degree = 0, has_more: more, hop, url, active } = node.data(), relations = `${degree}${more ? "+" : ""}`;
    one("[data-side-dot]").className = `dot k-${kind}`;
    one("[data-side-kind]").textContent = kindWords(kind);
    one("[data-side-id]").textContent = id;
    one("[data-side-title]").textContent = name(node);
    const good = ["accepted", "success", "succeeded"].includes(status) ? "b-good" : ["rejected", "failed"].includes(status) ? "b-bad" : "b-mute";
    one("[data-side-badges]").replaceChildren(
      make("span", { className: `badge badge-line ${review === "approved" ? "b-good" : "b-mute"}`, textContent: review === "approved" ? `✓ ${say("reviewed")}` : review === "unreviewed" ? `○ ${say("unreviewed")}` : review }),
      ...(status ? [make("span", { className: `badge ${good}`, textContent: status })] : []),
      ...(active === false ? [make("span", { className: "badge b-warn", textContent: say("inactive") })] : []));
    one("[data-side-facts]").replaceChildren(make("dt", { textContent: say("relations") }), make("dd", { textContent: relations }), make("dt", { textContent: say("steps") }), make("dd", { textContent: hop ?? "" }));
    one("[data-side-open]").href = url;
    one("[data-side-centre]").href = `?${(() => { const query = choices(); query.set("node", id); return query; })()}`;
    one("[data-act=pin]").ariaPressed = String(node.hasClass("pinned"));
    one("[data-act=collapse]").disabled = !expanded.includes(id);
    one("[data-side-relations]").replaceChildren(...node.connectedEdges().sort((a, b) => (a.data("relation") === "CONTRADICTS" ? -1 : 0) - (b.data("relation") === "CONTRADICTS" ? -1 : 0) || (b.data("cosine") ?? 0) - (a.data("cosine") ?? 0)).map((edge) => {
      const other = edge.source().id() === id ? edge.target() : edge.source(), button = make("button", { type: "button", textContent: name(other) });
      button.addEventListener("click", () => { select(other.id(), true); remember(); });
      return make("li", {}, make("span", { className: edge.data("relation") === "CONTRADICTS" ? "relation-contradicts" : "meta", textContent: `${edge.data("relation") === "SIMILAR_TO" || edge.data("relation") === "CONTRADICTS" || edge.source().id() === id ? "" : "← "}${relationWords(edge.data("relation"))}` }), button, make("span", { className: "meta num", textContent: edge.data("cosine") == null ? "" : edge.data("cosine").toFixed(2), title: say("cosine") }));
    }));
    labels();
    if (speak) announce(`${name(node)}, ${kindWords(kind)}, ${relations} ${say("relations")}`);
  }

  // Verbs
  async function draw() {
    const before = new Map(cy.nodes().map((node) => [node.id(), { ...node.position() }]));
    const answer = first ? JSON.parse(first) : await ask({ node: center, cap: form.elements.cap.value || FIRST });
    first = null; // the page brought its first answer along
    if (!answer) return;
    warn(frame.dataset.wants === "neo4j" && answer.answered_by === "relational" ? say("fallback") : "");
    total = answer.total;
    more = answer.at_least ? "+" : "";
    const pinned = cy.nodes(".pinned").map((node) => node.id());
    cy.elements().remove(); cameFrom.clear();
    add(answer, null);
    cy.nodes().forEach((node) => { if (before.has(node.id())) node.position(before.get(node.id())); });
    pinned.forEach((id) => cy.getElementById(id).addClass("pinned").lock());
    await arrange(cy.nodes().map((node) => node.id()).filter((id) => !before.has(id)), [...before.keys()]);
    const again = expanded; expanded = [];
    for (const id of again) if (cy.getElementById(id).length) await expand(id, true);
    settle();
  }
  async function expand(id, silent) {
    const node = cy.getElementById(id), known = cy.nodes().map((item) => item.id());
    if (!node.length) return;
    if (known.length >= FULL) { warn(say("full")); return; }
    const answer = await ask({ node: id, depth: 1, cap: Math.min(MORE, FULL - known.length), known: known.join(",") });
    if (!answer) return;
    const fresh = add(answer, id);
    await arrange(fresh, known);
    if (!expanded.includes(id) && fresh.length) expanded.push(id);
    if (silent) return;
    settle();
    announce(fresh.length ? say("expanded", { number: fresh.length, title: name(node) }) : say("nothing", { title: name(node) }));
    if (!fresh.length) warn(say("nothing", { title: name(node) }));
  }
  function collapse(id) {
    const gone = [], from = [id];
    while (from.length) { const parent = from.pop(); for (const [child, origin] of cameFrom) if (origin === parent && !cy.getElementById(child).hasClass("pinned") && child !== center) { gone.push(child); from.push(child); cameFrom.delete(child); } }
    gone.forEach((child) => cy.getElementById(child).remove());
    expanded = expanded.filter((item) => item !== id && !gone.includes(item));
    warn(""); settle();
    announce(say("collapsed", { number: gone.length }));
  }
  function pin(id) {
    const node = cy.getElementById(id), pinned = !node.hasClass("pinned");
    node.toggleClass("pinned", pinned);
    if (pinned) node.lock(); else node.unlock();
    select(id);
    announce(say(pinned ? "pinned" : "unpinned", { title: name(node) }));
  }
  function showPath(elements) {
    cy.elements().removeClass("on-path").addClass("faded");
    elements.removeClass("faded").addClass("on-path");
    labels();
    const text = say("path", { number: elements.nodes().length - 1, titles: elements.nodes().map(name).join(" → ") });
    warn(text); announce(text);
    fit(true);
  }
  async function pathTo(to) {
    const from = selected, nothing = () => { const text = say("noPath", { from, to }); warn(text); announce(text); };
    const local = cy.getElementById(to).length && cy.elements().aStar({ root: cy.getElementById(from), goal: cy.getElementById(to) });
    if (local?.found) return showPath(local.path);
    if (!frame.dataset.pathSource) return nothing();
    const answer = await ask({ node: from, to }, frame.dataset.pathSource);
    if (!answer?.nodes.length) return answer && nothing();
    const known = cy.nodes().map((node) => node.id());
    await arrange(add(answer, from), known);
    settle();
    const found = cy.getElementById(to).length && cy.elements().aStar({ root: cy.getElementById(from), goal: cy.getElementById(to) });
    if (found?.found) showPath(found.path); else nothing();
  }
  function clear() { cy.elements().removeClass("faded on-path"); warn(""); labels(); }
  function save(blob, ending) {
    const link = make("a", { href: URL.createObjectURL(blob), download: `${center}-neighbourhood.${ending}` });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }
  function asTable(shown) {
    frame.classList.toggle("as-table", shown);
    one("[data-act=table]").ariaPressed = String(shown);
    if (!shown) { cy.resize(); fit(false); }
    remember();
  }
  const acts = {
    expand: () => expand(selected), collapse: () => collapse(selected), pin: () => pin(selected), clear, fit: () => fit(true),
    table: () => asTable(!frame.classList.contains("as-table")),
    png: async () => save(await cy.png({ output: "blob-promise", full: true, scale: 2, bg: token("paper"), maxWidth: 6000, maxHeight: 6000 }), "png"),
    json: () => save(new Blob([JSON.stringify({ center, query: String(choices()), nodes: cy.nodes().map((node) => { const { label, size, ...data } = node.data(); return { ...data, position: node.position() }; }), edges: cy.edges().map((edge) => { const { source, target, relation, cosine } = edge.data(); return { source, target, relation, score: cosine ?? null }; }) }, null, 2)], { type: "application/json" }), "json"),
  };
  frame.addEventListener("click", (event) => { const control = event.target.closest("[data-act]"); if (control && !control.disabled) acts[control.dataset.act]?.(); });
  let waiting;
  form.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(() => { remember(); draw(); }, 250); });
  form.addEventListener("submit", (event) => { event.preventDefault(); remember(); draw(); });
  one("[data-graph-path]").addEventListener("submit", () => pathTo(one("#graph-path-to").value.trim()));

  cy.on("tap", "node", ({ target }) => { focused = target.id(); select(target.id(), true); remember(); });
  cy.on("dbltap", "node", ({ target }) => expand(target.id()));
  cy.on("tap", ({ target }) => { if (target === cy) { select(null); remember(); } });
  cy.on("mouseover", "node", ({ target }) => { target.addClass("over"); canvas.classList.add("is-over"); labels(); });
  cy.on("mouseout", "node", ({ target }) => { target.removeClass("over"); canvas.classList.remove("is-over"); labels(); });

  // Keyboard: arrows go to the nearest node that way, Tab walks all of them and then leaves, Enter selects.
  function focusOn(node) {
    cy.nodes().removeClass("focused");
    focused = node?.id() || null;
    if (!node) { labels(); return; }
    node.addClass("focused"); labels();
    const { x, y } = node.renderedPosition();
    if (x < 20 || y < 20 || x > cy.width() - 20 || y > cy.height() - 20) cy.center(node);
    announce(`${name(node)}, ${kindWords(node.data("kind"))}`);
  }
  const WAYS = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] };
  function toward([dx, dy]) {
    const here = cy.getElementById(focused || selected || center), from = here.position();
    let best = null, least = Infinity;
    cy.nodes().forEach((node) => {
      const x = node.position("x") - from.x, y = node.position("y") - from.y, along = x * dx + y * dy, aside = Math.abs(x * dy + y * dx);
      if (along > 1 && along + 2 * aside < least) { least = along + 2 * aside; best = node; }
    });
    return best;
  }
  canvas.addEventListener("focus", () => { if (canvas.matches(":focus-visible") && !focused) focusOn(cy.getElementById(selected || center)); });
  canvas.addEventListener("blur", () => cy.nodes().removeClass("focused"));
  canvas.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const order = cy.nodes().sort((a, b) => (a.data("hop") ?? 9) - (b.data("hop") ?? 9) || name(a).localeCompare(name(b)));
    let used = true;
    if (WAYS[event.key]) { const next = toward(WAYS[event.key]); if (next) focusOn(next); }
    else if (event.key === "Tab") {
      const next = order[order.map((node) => node.id()).indexOf(focused) + (event.shiftKey ? -1 : 1)];
      if (next && focused) focusOn(next); else { focused = null; used = false; }
    } else if (event.key === "Enter" || event.key === " ") { if (focused) { select(focused, true); remember(); } }
    else if (event.key === "Escape") { if (note.hidden) { select(null); focusOn(null); } else clear(); }
    else if (event.key === "+" || event.key === "-") cy.zoom({ level: cy.zoom() * (event.key === "+" ? 1.2 : 1 / 1.2), renderedPosition: { x: cy.width() / 2, y: cy.height() / 2 } });
    else { if ("xpcto".includes(event.key) && focused && focused !== selected) select(focused); used = false; } // the page's keys act on the node that has the focus
    if (used) event.preventDefault();
  });
  new ResizeObserver(() => cy.resize()).observe(canvas);

  one("[data-graph-count]").textContent = say("loading");
  if (start.get("view") === "table") asTable(true);
  draw();
})();
