// Behaviour by data-* attributes; every control here is a working link or form without it.
// Words shown to people come from the templates (data-* of #activity and of the help dialog).
(() => {
  "use strict";
  const root = document.documentElement, body = document.body;
  const one = (selector, within = document) => within.querySelector(selector);
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const meta = (name) => one(`meta[name="${name}"]`)?.content || "";
  const activity = one("#activity");
  const words = activity?.dataset || {};
  const local = keep(() => localStorage), session = keep(() => sessionStorage);

  function keep(storage) { // storage may be blocked: then nothing is remembered, and nothing breaks
    const reach = (verb, ...parts) => { try { return storage()[verb](...parts); } catch { return null; } };
    return { get: (key) => reach("getItem", key), set: (key, value) => reach("setItem", key, value), drop: (key) => reach("removeItem", key), keys: () => { try { return Object.keys(storage()); } catch { return []; } } };
  }

  // What is happening: saving, saved, offline, signed out
  let quiet;
  function say(state, text = words[state] || "") {
    if (!activity) return;
    clearTimeout(quiet);
    activity.dataset.state = state;
    activity.textContent = text;
    if (["saved", "online", "copied"].includes(state)) quiet = setTimeout(() => { activity.textContent = ""; }, 4000);
  }
  function toast(text, link) { // link: [href, words]
    const region = one("#messages");
    if (!region || !text) return;
    const box = document.createElement("div"), line = document.createElement("p"), close = document.createElement("button");
    box.className = "toast toast-error"; box.dataset.toast = "";
    line.textContent = text;
    if (link) { const a = document.createElement("a"); a.href = link[0]; a.className = "link"; a.textContent = link[1]; line.append(" ", a); }
    close.type = "button"; close.className = "btn quiet"; close.dataset.dismiss = ""; close.textContent = "×"; close.setAttribute("aria-label", words.dismiss || "×");
    box.append(line, close);
    region.replaceChildren(box);
  }

  // Typed text: guarded while it is unsaved, kept when the session has ended, put back after signing in
  const draftKey = (form) => `draft:${new URL(form.action, location).pathname}#${form.id}`;
  const typed = (form) => [...form.elements].filter((field) => field.name && !["password", "file", "submit", "button"].includes(field.type) && (field.type !== "hidden" || field.name === "version") && field.name !== "csrfmiddlewaretoken");
  const dirty = new Set();
  function keepDraft(form) {
    const values = typed(form).map((field) => [field.name, field.value, /checkbox|radio/.test(field.type) ? field.checked : null]);
    session.set(draftKey(form), JSON.stringify({ values, lost: false }));
  }
  function settleDrafts() { // on load: mark what a sign-in page interrupted, restore it, forget the rest
    const signingIn = location.pathname === meta("login-url");
    for (const key of session.keys().filter((name) => name.startsWith("draft:"))) {
      const draft = JSON.parse(session.get(key) || "{}");
      if (signingIn) { session.set(key, JSON.stringify({ ...draft, lost: true })); continue; }
      const form = all("form[data-guard]").find((item) => draftKey(item) === key);
      if (!draft.lost) { session.drop(key); continue; }
      if (!form) continue;
      const left = [...draft.values];
      for (const field of typed(form)) {
        const at = left.findIndex(([name, value, checked]) => name === field.name && (checked === null || value === field.value));
        if (at < 0) continue;
        const [[, value, checked]] = left.splice(at, 1);
        if (checked === null) field.value = value; else field.checked = checked;
      }
      session.drop(key);
      dirty.add(form);
      say("restored");
    }
  }
  function signedOut() {
    all("form[data-guard]").filter((form) => dirty.has(form)).forEach((form) => { keepDraft(form); session.set(draftKey(form), JSON.stringify({ ...JSON.parse(session.get(draftKey(form)) || "{}"), lost: true })); dirty.delete(form); });
    say("expired");
    toast(words.expired, [`${meta("login-url")}?next=${encodeURIComponent(location.pathname + location.search)}`, words.signin]);
  }
  document.addEventListener("input", ({ target }) => {
    const form = target.form;
    if (form?.matches("[data-guard]") && !target.matches("[data-no-guard]")) dirty.add(form);
    if (target.dataset.twin) { const twin = document.getElementById(target.dataset.twin); if (twin) twin.value = target.value; }
  });
  document.addEventListener("submit", ({ target, submitter }) => {
    if (target.matches("[data-guard]")) { keepDraft(target); dirty.delete(target); }
    if (target.method === "post" && !target.matches("[hx-post]")) { say("saving"); if (submitter) setTimeout(() => { submitter.disabled = true; }); }
  });
  addEventListener("beforeunload", (event) => { if ([...dirty].some((form) => form.isConnected)) event.preventDefault(); });
  addEventListener("pageshow", (event) => { if (event.persisted) { all("button[disabled]").forEach((button) => { button.disabled = false; }); say("saved", ""); } });
  addEventListener("offline", () => say("offline"));
  addEventListener("online", () => say("online"));

  // htmx
  const changes = (event) => (event.detail.requestConfig?.verb || event.detail.verb) !== "get";
  body.addEventListener("htmx:configRequest", (event) => { if (changes(event)) event.detail.headers["X-CSRFToken"] = meta("csrf-token"); });
  body.addEventListener("htmx:beforeRequest", (event) => { root.classList.add("is-busy"); if (changes(event)) say("saving"); });
  body.addEventListener("htmx:afterRequest", (event) => {
    root.classList.remove("is-busy");
    const form = event.detail.elt.closest("form");
    if (!changes(event) || !event.detail.xhr?.status) return;
    if (event.detail.successful && event.detail.xhr.status < 300) { say("saved"); if (form?.matches("[data-guard]")) { dirty.delete(form); session.drop(draftKey(form)); } event.detail.elt.closest("dialog")?.close(); }
    else if ([409, 412, 422].includes(event.detail.xhr.status)) { say("saved", ""); if (form) dirty.add(form); }
  });
  body.addEventListener("htmx:beforeSwap", (event) => { // a sign-in page must never land inside a part of a page
    if (event.detail.xhr.responseURL && new URL(event.detail.xhr.responseURL).pathname === meta("login-url")) { event.detail.shouldSwap = false; const form = event.detail.elt?.closest?.("form"); if (form?.matches("[data-guard]")) dirty.add(form); signedOut(); }
  });
  body.addEventListener("htmx:responseError", (event) => {
    const form = event.detail.elt.closest("form"), { status } = event.detail.xhr;
    if (form?.matches("[data-guard]")) dirty.add(form);
    if (status === 401) return signedOut();
    const state = { 403: "forbidden", 404: "gone", 410: "gone", 429: "busy" }[status] || "failed";
    say("failed", ""); toast(words[state]);
  });
  for (const name of ["htmx:sendError", "htmx:timeout"]) body.addEventListener(name, (event) => { root.classList.remove("is-busy"); const form = event.detail.elt?.closest?.("form"); if (form?.matches("[data-guard]")) dirty.add(form); say("offline"); });
  body.addEventListener("htmx:afterSettle", (event) => {
    const part = event.detail.target || event.detail.elt;
    if (!part?.isConnected) return;
    ready(part);
    const pane = part.closest(".split-pane");
    if (pane) { pane.closest(".split").dataset.record = ""; pane.scrollTop = 0; mark(event.detail.requestConfig?.elt); }
    const wrong = one("[aria-invalid=true]", part);
    const next = wrong || (part.matches("[data-focus-after]") ? part : one("[data-focus-after]", part));
    // The keyboard stays in the list while somebody walks through it with j and k.
    if (next && !(pane && !wrong && document.activeElement?.closest("[data-row]"))) next.focus({ preventScroll: !wrong });
  });
  function mark(link) { if (!link?.matches?.("[data-open]")) return; all("[data-open][aria-current]").forEach((other) => other.removeAttribute("aria-current")); link.setAttribute("aria-current", "true"); }

  // Dialogs, menus, copying, dismissing, selecting
  function openDialog(dialog, opener) {
    if (!dialog?.showModal || dialog.open) return;
    if (dialog.id === "keys-dialog") listKeys(dialog);
    dialog.showModal();
    one("textarea, input:not([type=hidden]), select", dialog)?.focus();
    dialog.addEventListener("close", () => opener?.isConnected && opener.focus(), { once: true });
  }
  async function copy(text, button) {
    try { await navigator.clipboard.writeText(text); } catch { // plain http has no clipboard: select and use the old command
      const area = document.createElement("textarea");
      area.value = text; area.className = "visually-hidden"; button.after(area); area.select(); document.execCommand("copy"); area.remove(); button.focus();
    }
    const before = button.dataset.word ||= button.textContent;
    button.textContent = words.copied || "✓"; say("copied");
    setTimeout(() => { button.textContent = before; }, 1600);
  }
  function countSelected(form) {
    const boxes = all("[data-select]", form), chosen = boxes.filter((box) => box.checked).length;
    all("[data-selected-count]", form).forEach((place) => { place.textContent = `${chosen} ${words.selected || ""}`; });
    all("[data-select-all]", form).forEach((box) => { box.checked = chosen > 0 && chosen === boxes.length; box.indeterminate = chosen > 0 && chosen < boxes.length; });
  }
  document.addEventListener("click", (event) => {
    const hit = (selector) => event.target.closest(selector);
    let found;
    all("details[data-menu][open]").forEach((menu) => { if (!menu.contains(event.target)) menu.open = false; });
    if ((found = hit("[data-dialog]")) && !event.metaKey && !event.ctrlKey) { event.preventDefault(); found.closest("details[data-menu]")?.removeAttribute("open"); openDialog(document.getElementById(found.dataset.dialog), found); }
    else if ((found = hit("[data-close]"))) found.closest("dialog")?.close();
    else if ((found = hit("[data-dismiss]"))) found.closest("[data-toast]")?.remove();
    else if ((found = hit("[data-copy-button]"))) copy(found.dataset.copyValue || one("[data-copy-text]", found.closest("[data-copy]")).textContent, found);
    else if ((found = hit("[data-copy-link]"))) copy(location.href, found);
    else if ((found = hit("[data-theme-choice]"))) theme(found.dataset.themeChoice);
    else if ((found = hit("[data-take]"))) { const { take } = found.dataset, field = one(`[name="${CSS.escape(take)}"]`, found.closest("form")); field.value = one(`[data-theirs="${CSS.escape(take)}"]`).textContent; field.focus(); }
    else if (event.target.matches("dialog")) event.target.close(); // the backdrop
    if ((found = hit("[data-open]"))) mark(found);
  });
  document.addEventListener("change", ({ target }) => {
    if (target.matches("[data-select-all]")) all("[data-select]", target.form || document).forEach((box) => { box.checked = target.checked; });
    if (target.matches("[data-select-all], [data-select]")) countSelected(target.form || document);
    if (target.matches("[data-keys-switch]")) local.set("keys", target.checked ? "on" : "off");
  });
  function theme(choice) {
    if (choice === undefined) choice = local.get("theme") || "";
    else if (choice) local.set("theme", choice); else local.drop("theme");
    if (choice) root.dataset.theme = choice; else delete root.dataset.theme;
    all("[data-theme-choice]").forEach((button) => button.setAttribute("aria-pressed", String(button.dataset.themeChoice === choice)));
    document.dispatchEvent(new Event("themechange"));
  }

  // The keyboard layer: single keys, never while typing, never with a modifier, and it can be switched off
  const seen = (element) => element.checkVisibility ? element.checkVisibility() : element.offsetParent !== null;
  const keysOn = () => (local.get("keys") || body.dataset.keys || "on") !== "off";
  const rows = () => all("[data-row]").filter(seen);
  const rowNow = () => document.activeElement?.closest("[data-row]") || one("[data-row]:has([aria-current=true])");
  function move(step) {
    const list = rows(), at = list.indexOf(rowNow()), next = list[at < 0 ? 0 : Math.min(list.length - 1, Math.max(0, at + step))];
    if (!next) return;
    const link = one("[data-open], a", next);
    link.focus(); next.scrollIntoView({ block: "nearest" });
    if (next.closest(".split") && link.hasAttribute("hx-get")) link.click();
  }
  const layered = () => one("dialog[open]") || document;
  const byKey = (key) => all("[data-key]", layered()).find((item) => item.dataset.key === key && seen(item) && !item.disabled);
  let going = 0;
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") { const menu = one("details[data-menu][open]"); if (menu) { menu.open = false; one("summary", menu).focus(); } return; }
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing || !keysOn()) return;
    if (event.target.closest("input:not([type=checkbox], [type=radio], [type=range]), textarea, select, [contenteditable]")) return;
    const { key } = event;
    let done = true;
    if (going && Date.now() - going < 1500) { going = 0; const link = all("[data-go]").find((item) => item.dataset.go === key); if (link) link.click(); else done = false; }
    else if (one("dialog[open]") && !byKey(key)) done = false;
    else if (key === "g") going = Date.now();
    else if (key === "/" && one("[data-search]")) { one("[data-search]").focus(); one("[data-search]").select(); }
    else if (key === "?") openDialog(one("#keys-dialog"), document.activeElement);
    else if (byKey(key)) { const control = byKey(key); control.focus(); control.click(); }
    else if (key === "j" && rows().length) move(1);
    else if (key === "k" && rows().length) move(-1);
    else if (key === "x" && rowNow() && one("[data-select]", rowNow())) one("[data-select]", rowNow()).click();
    else done = false;
    if (done) event.preventDefault();
  });
  function listKeys(dialog) {
    const list = one("[data-keys-list]", dialog), text = list.dataset;
    list.replaceChildren();
    const add = (keys, label) => { const dt = document.createElement("dt"), dd = document.createElement("dd"); keys.split(" ").forEach((key, at) => { const kbd = document.createElement("kbd"); kbd.textContent = key; dt.append(at ? " " : "", kbd); }); dd.textContent = label; list.append(dt, dd); };
    if (one("[data-search]")) add("/", text.textSearch);
    if (rows().length) { add("j", text.textNext); add("k", text.textPrevious); add("Enter", text.textOpen); }
    if (one("[data-row] [data-select]")) add("x", text.textSelect);
    const name = (item) => { const clone = item.cloneNode(true); all("kbd, .count, .waiting, .visually-hidden", clone).forEach((part) => part.remove()); return item.dataset.keyLabel || item.getAttribute("aria-label") || clone.textContent.trim(); };
    const once = new Set();
    all("[data-key]").filter((item) => seen(item) && !once.has(item.dataset.key) && once.add(item.dataset.key)).forEach((item) => add(item.dataset.key, name(item)));
    all("[data-go]").forEach((item) => add(`g ${item.dataset.go}`, name(item)));
    add("?", text.textHelp);
    one("[data-keys-switch]", dialog).checked = keysOn();
  }
  function nameJumps() { // a rail link without a letter of its own gets the first free one of its label
    const taken = new Set(all("[data-go]").map((item) => item.dataset.go));
    for (const link of all(".rail a:not([data-go])")) {
      const letter = [...link.textContent.trim().toLowerCase()].find((sign) => /\p{L}/u.test(sign) && !taken.has(sign));
      if (letter) { taken.add(letter); link.dataset.go = letter; }
    }
  }

  // Search suggestions: arrows choose, Enter takes
  document.addEventListener("keydown", (event) => {
    const box = event.target.closest?.("[role=combobox]"), list = box && document.getElementById(box.getAttribute("aria-controls"));
    if (!list) return;
    const options = all("[role=option]", list), at = options.findIndex((item) => item.ariaSelected === "true");
    if (event.key === "Escape") { list.replaceChildren(); box.ariaExpanded = "false"; return; }
    if (event.key === "Enter" && at >= 0) { event.preventDefault(); options[at].click(); return; }
    if (!["ArrowDown", "ArrowUp"].includes(event.key) || !options.length) return;
    event.preventDefault();
    const next = (at + (event.key === "ArrowDown" ? 1 : -1) + options.length) % options.length;
    options.forEach((item, place) => { item.ariaSelected = String(place === next); item.id ||= `${list.id}-${place}`; });
    box.setAttribute("aria-activedescendant", options[next].id);
    options[next].scrollIntoView({ block: "nearest" });
  });
  document.addEventListener("click", (event) => { // an option carries the whole line in data-value, or is a link's parent
    const option = event.target.closest("[role=option]"), list = option?.closest("[role=listbox]"), box = list && one(`[aria-controls="${list.id}"]`);
    if (!box) return;
    if (option.dataset.href) { location.assign(option.dataset.href); return; }
    box.value = option.dataset.value ?? option.textContent; list.replaceChildren(); box.ariaExpanded = "false"; box.focus();
  });

  // Times stay fresh
  const relative = new Intl.RelativeTimeFormat(root.lang || "en", { numeric: "auto", style: "short" });
  const steps = [[60, "second", 1], [3600, "minute", 60], [86400, "hour", 3600], [604800, "day", 86400], [2629800, "week", 604800], [31557600, "month", 2629800], [Infinity, "year", 31557600]];
  function freshTimes(within = document) {
    for (const item of all("time[data-relative]", within)) {
      const seconds = (new Date(item.dateTime) - Date.now()) / 1000;
      if (Number.isNaN(seconds)) continue;
      const [, unit, size] = steps.find(([limit]) => Math.abs(seconds) < limit);
      item.textContent = relative.format(Math.trunc(seconds / size), unit);
    }
  }
  function ready(part = document) {
    freshTimes(part);
    all("[data-dirty]", part).forEach((form) => dirty.add(form));
    all("[role=listbox]").forEach((list) => { const box = one(`[aria-controls="${list.id}"]`); if (box) { box.ariaExpanded = String(list.childElementCount > 0); box.removeAttribute("aria-activedescendant"); } });
  }

  nameJumps(); theme(); ready(); settleDrafts();
  one(".rail [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
  setInterval(freshTimes, 30000);
})();
