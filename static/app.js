// Behaviour by data-* attributes; every control is a working link or form without it.
// Words that people read come from the templates (data-* of #activity and of the help dialog).
(() => {
  "use strict";
  const root = document.documentElement, body = document.body;
  const one = (selector, within = document) => within.querySelector(selector);
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const on = (names, react, target = document) => names.split(" ").forEach((name) => target.addEventListener(name, react));
  const make = (tag, properties = {}, ...children) => { const made = Object.assign(document.createElement(tag), properties); made.append(...children); return made; };
  const meta = (name) => one(`meta[name="${name}"]`)?.content || "";
  const activity = one("#activity") || make("span"), words = activity.dataset;
  // Storage may be blocked: then nothing is remembered, and nothing breaks.
  const attempt = (work) => { try { return work(); } catch { return null; } };

  // What is happening: saving, saved, offline, signed out
  let quiet;
  function say(state, text = words[state] || "") {
    clearTimeout(quiet);
    activity.dataset.state = state;
    activity.textContent = text;
    if (["saved", "online", "copied"].includes(state)) quiet = setTimeout(() => { activity.textContent = ""; }, 4000);
  }
  function toast(text, href) {
    const close = make("button", { type: "button", className: "btn quiet", textContent: "×", ariaLabel: words.dismiss });
    const line = make("p", { textContent: `${text} ` });
    if (href) line.append(make("a", { href, className: "link", textContent: words.signin }));
    const box = make("div", { className: "toast toast-error" }, line, close);
    close.dataset.dismiss = box.dataset.toast = "";
    one("#messages")?.replaceChildren(box);
  }

  // Typed text: guarded while unsaved, kept when the session has ended, put back after signing in.
  // The version goes with it, so that an old text meets a conflict instead of overwriting.
  const dirty = new Set();
  const guarded = (element) => element?.closest?.("form[data-guard]");
  const touch = (element) => { const form = guarded(element); if (form) dirty.add(form); };
  const draftKey = (form) => `draft:${new URL(form.getAttribute("action") || "", location).pathname}#${form.id}`;
  const typed = (form) => [...form.elements].filter(({ name, type }) => name && name !== "csrfmiddlewaretoken" && !/password|file|submit|button|fieldset/.test(type) && (type !== "hidden" || name === "version"));
  const ticks = (field) => /checkbox|radio/.test(field.type);
  function keepDraft(form, lost) {
    const values = typed(form).map((field) => [field.name, field.value, ticks(field) ? field.checked : null]);
    attempt(() => sessionStorage.setItem(draftKey(form), JSON.stringify({ values, lost })));
  }
  function settleDrafts() { // on load: a sign-in page marks them as lost, the form takes them back, else they are done with
    for (const key of Object.keys(sessionStorage).filter((name) => name.startsWith("draft:"))) {
      const draft = JSON.parse(sessionStorage[key]), form = all("form[data-guard]").find((item) => draftKey(item) === key);
      if (location.pathname === meta("login-url")) sessionStorage[key] = JSON.stringify({ ...draft, lost: true });
      else if (!draft.lost || form) delete sessionStorage[key];
      if (!draft.lost || !form) continue;
      for (const field of typed(form)) {
        const at = draft.values.findIndex(([name, value, ticked]) => name === field.name && (ticked === null || value === field.value));
        if (at < 0) continue;
        const [[, value, ticked]] = draft.values.splice(at, 1);
        if (ticked === null) field.value = value; else field.checked = ticked;
      }
      dirty.add(form);
      say("restored");
    }
  }
  function signedOut() {
    dirty.forEach((form) => keepDraft(form, true));
    dirty.clear();
    say("expired", "");
    toast(words.expired, `${meta("login-url")}?next=${encodeURIComponent(location.pathname + location.search)}`);
  }
  on("input", ({ target }) => {
    if (!target.matches("[data-no-guard]")) touch(target);
    const twin = target.dataset.twin && document.getElementById(target.dataset.twin);
    if (twin) twin.value = target.value;
  });
  on("submit", ({ target, submitter }) => {
    if (guarded(target)) { keepDraft(target, false); dirty.delete(target); }
    if (target.method !== "post" || target.matches("[hx-post]")) return;
    say("saving");
    if (submitter) setTimeout(() => { submitter.disabled = true; }); // after the form was read: one click, one write
  });
  on("formdata", ({ target, formData }) => { // a filter's address holds only what was filled in
    if (target.method !== "get") return;
    for (const name of new Set(formData.keys())) {
      const usual = target.elements[name]?.dataset?.default || "";
      if (formData.getAll(name).every((value) => value === usual)) formData.delete(name);
    }
  });
  on("beforeunload", (event) => { if ([...dirty].some((form) => form.isConnected)) event.preventDefault(); }, window);
  on("pageshow", (event) => { if (event.persisted) { all("button:disabled").forEach((button) => { button.disabled = false; }); say("saved", ""); } }, window);
  on("offline online", ({ type }) => say(type), window);

  // htmx
  const isSignIn = ({ responseURL }) => responseURL && new URL(responseURL).pathname === meta("login-url");
  const changes = ({ detail }) => (detail.requestConfig || detail).verb !== "get";
  on("htmx:configRequest", (event) => { if (changes(event)) event.detail.headers["X-CSRFToken"] = meta("csrf-token"); });
  const polls = ({ detail }) => detail.elt.hasAttribute("data-poll");
  on("htmx:beforeRequest", (event) => { // what asks again by itself does so only while somebody looks
    // and never takes away what is pointed at, held or read from the keyboard.
    if (polls(event)) { if (document.hidden || event.detail.elt.matches(":is(:hover, :focus-within)")) event.preventDefault(); return; }
    root.classList.add("is-busy"); if (changes(event)) say("saving"); });
  on("htmx:afterRequest", (event) => {
    const { xhr, elt } = event.detail, form = guarded(elt);
    root.classList.remove("is-busy");
    if (!changes(event) || !xhr.status || isSignIn(xhr)) return;
    if (xhr.status >= 300) { touch(elt); if (activity.dataset.state === "saving") say("stopped", ""); return; }
    say("saved");
    if (form) { dirty.delete(form); attempt(() => sessionStorage.removeItem(draftKey(form))); }
    elt.closest("dialog")?.close();
  });
  on("htmx:beforeSwap", ({ detail }) => { // a sign-in page must never land inside a part of a page
    if (isSignIn(detail.xhr)) { detail.shouldSwap = false; touch(detail.elt); signedOut(); }
  });
  on("htmx:oobBeforeSwap", (event) => { // counts are not moved under a hand that is on them
    if (event.detail.target.matches(".rail:is(:hover, :focus-within)")) event.detail.shouldSwap = false;
  });
  on("htmx:oobAfterSwap", ({ detail }) => { if (detail.target.matches(".rail")) nameJumps(); });
  on("htmx:responseError", ({ detail: { elt, xhr } }) => {
    touch(elt);
    if (xhr.status === 401) signedOut();
    else { say("failed", ""); toast(words[{ 403: "forbidden", 404: "gone", 410: "gone", 429: "busy" }[xhr.status] || "failed"]); }
  });
  on("htmx:sendError htmx:timeout", ({ detail }) => { root.classList.remove("is-busy"); touch(detail.elt); say("offline"); });
  on("htmx:afterSettle", ({ detail }) => {
    const part = [detail.target, detail.elt].find((place) => place?.isConnected); // a target that was replaced is gone
    if (!part) return;
    ready(part);
    const pane = part.closest(".split-pane"), wrong = one("[aria-invalid=true]", part);
    if (pane) { pane.closest(".split").dataset.record = ""; pane.scrollTop = 0; }
    const next = wrong || one("[role=alert] [data-focus-after]", part) || (part.matches("[data-focus-after]") ? part : one("[data-focus-after]", part));
    // The focus stays in the list while somebody walks through it with j and k.
    if (next && (wrong || !pane || !document.activeElement.closest("[data-row]"))) next.focus({ preventScroll: !wrong });
  });

  // Dialogs, menus, copying, dismissing, selecting, theme
  function openDialog(dialog, opener) {
    if (!dialog || dialog.open) return;
    if (dialog.id === "keys-dialog") listKeys(dialog);
    dialog.showModal();
    (one("[data-focus-first]", dialog) || one("textarea, select, input:not([type=hidden])", dialog))?.focus();
    dialog.addEventListener("close", () => opener?.focus(), { once: true });
  }
  async function copy(text, button) {
    try { await navigator.clipboard.writeText(text); } catch { // plain http has no clipboard
      const area = make("textarea", { value: text });
      button.after(area); area.select(); document.execCommand("copy"); area.remove(); button.focus();
    }
    button.dataset.word ||= button.textContent;
    button.textContent = words.copied; say("copied", words.copied);
    setTimeout(() => { button.textContent = button.dataset.word; }, 1600);
  }
  function choose(link) { all("[data-open][aria-current]").forEach((other) => other.removeAttribute("aria-current")); link.setAttribute("aria-current", "true"); }
  function theme(choice) {
    attempt(() => { if (choice) localStorage.theme = choice; else delete localStorage.theme; });
    if (choice) root.dataset.theme = choice; else delete root.dataset.theme;
    all("[data-theme-choice]").forEach((button) => { button.ariaPressed = button.dataset.themeChoice === choice; });
    document.dispatchEvent(new Event("themechange"));
  }
  const clicks = {
    "[data-dialog]": (found, event) => { event.preventDefault(); found.closest("[data-menu]")?.removeAttribute("open"); openDialog(document.getElementById(found.dataset.dialog), found); },
    "[data-close]": (found) => found.closest("dialog").close(),
    "[data-dismiss]": (found) => found.closest("[data-toast]").remove(),
    "[data-copy-button]": (found) => copy(one("[data-copy-text]", found.closest("[data-copy]")).textContent, found),
    "[data-copy-link]": (found) => copy(location.href, found),
    "[data-theme-choice]": (found) => theme(found.dataset.themeChoice),
    "[data-take]": ({ dataset: { take }, form }) => { const field = form.elements[take]; field.value = one(`[data-theirs="${CSS.escape(take)}"]`, form).textContent; field.focus(); },
    "[data-open]": choose,
  };
  on("click", (event) => {
    all("[data-menu][open]").forEach((menu) => { if (!menu.contains(event.target)) menu.open = false; });
    if (event.target.matches("dialog")) event.target.close(); // the backdrop
    if (event.ctrlKey || event.metaKey) return;
    for (const [selector, react] of Object.entries(clicks)) { const found = event.target.closest(selector); if (found) react(found, event); }
  });
  on("change", ({ target }) => {
    if (target.matches("[data-keys-switch]")) attempt(() => { localStorage.keys = target.checked ? "on" : "off"; });
    if (!target.matches("[data-select-all], [data-select]")) return;
    const within = target.form || document, boxes = all("[data-select]", within);
    if (target.matches("[data-select-all]")) boxes.forEach((box) => { box.checked = target.checked; });
    const chosen = boxes.filter((box) => box.checked).length;
    all("[data-selected-count]", within).forEach((place) => { place.textContent = `${chosen} ${words.selected}`; });
    all("[data-select-all]", within).forEach((box) => { box.checked = chosen === boxes.length; box.indeterminate = chosen > 0 && !box.checked; });
  });

  // The keyboard layer: single keys, never while typing or with a modifier, and it can be switched off
  const keysOn = () => (attempt(() => localStorage.keys) || body.dataset.keys) !== "off";
  const seen = (element) => element.checkVisibility() && !element.disabled;
  const rows = () => all("[data-row]").filter(seen);
  const rowNow = () => document.activeElement.closest("[data-row]") || one("[data-row]:has([aria-current=true])");
  const ofRow = (key) => !one("dialog[open]") && document.activeElement.closest("[data-row]") && all("[data-row-key]", document.activeElement.closest("[data-row]")).find((item) => item.dataset.rowKey === key && seen(item));
  const byKey = (key) => ofRow(key) || all("[data-key]", one("dialog[open]") || document).find((item) => item.dataset.key === key && seen(item));
  function move(step) {
    const list = rows(), at = list.indexOf(rowNow()), row = list[at < 0 ? 0 : Math.min(list.length - 1, Math.max(0, at + step))], link = one("[data-open]", row);
    link.focus();
    row.scrollIntoView({ block: "nearest" });
    if (link.matches(".split [hx-get]")) link.click();
  }
  const keys = {
    "/": () => { const box = one("[data-search]"); box?.focus(); box?.select(); return box; },
    "?": () => { openDialog(one("#keys-dialog"), document.activeElement); return true; },
    j: () => { if (rows().length) move(1); return rows().length; },
    k: () => { if (rows().length) move(-1); return rows().length; },
    x: () => { const box = rowNow() && one("[data-select]", rowNow()); box?.click(); return box; },
  };
  let going = 0;
  on("keydown", (event) => {
    const { key, target } = event, menu = one("[data-menu][open]"), wentAt = going;
    if (key === "Escape" && menu) { menu.open = false; one("summary", menu).focus(); }
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing || !keysOn()) return;
    if (target.closest("input:not([type=checkbox], [type=radio], [type=range]), textarea, select, [contenteditable]")) return;
    going = 0;
    let done = byKey(key);
    if (Date.now() - wentAt < 1500) { done = one(`[data-go="${CSS.escape(key)}"]`); done?.click(); }
    else if (done) { done.focus(); done.click(); }
    else if (one("dialog[open]")) return;
    else if (key === "g") { going = Date.now(); done = true; }
    else done = Object.hasOwn(keys, key) && keys[key]();
    if (done) event.preventDefault();
  });
  function listKeys(dialog) {
    const list = one("[data-keys-list]", dialog), text = list.dataset, listed = new Set();
    const add = (combination, label) => { if (!listed.has(combination)) { listed.add(combination); list.append(make("dt", {}, ...combination.split(" ").flatMap((key) => [make("kbd", { textContent: key }), " "])), make("dd", { textContent: label })); } };
    const name = (item) => { const copied = item.cloneNode(true); all("kbd, .count, .waiting, .visually-hidden", copied).forEach((part) => part.remove()); return item.dataset.keyLabel || item.ariaLabel || copied.textContent.trim(); };
    list.replaceChildren();
    if (one("[data-search]")) add("/", text.textSearch);
    if (rows().length) { add("j", text.textNext); add("k", text.textPrevious); add("Enter", text.textOpen); }
    if (one("[data-row] [data-select]")) add("x", text.textSelect);
    all("[data-key]").filter(seen).forEach((item) => add(item.dataset.key, name(item)));
    all("[data-row-key]").filter(seen).forEach((item) => add(item.dataset.rowKey, name(item)));
    all("[data-go]").forEach((item) => add(`g ${item.dataset.go}`, name(item)));
    add("?", text.textHelp);
    one("[data-keys-switch]", dialog).checked = keysOn();
  }
  function nameJumps() { // a link of the rail without a letter of its own gets the first free one of its label
    const taken = new Set(all("[data-go]").map((item) => item.dataset.go));
    for (const link of all(".rail a:not([data-go])")) {
      const letter = [...link.textContent.trim().toLowerCase()].find((sign) => /\p{L}/u.test(sign) && !taken.has(sign));
      if (letter) { taken.add(letter); link.dataset.go = letter; }
    }
  }

  // Times stay fresh
  const relative = new Intl.RelativeTimeFormat(root.lang || "en", { numeric: "auto", style: "short" });
  const steps = [[60, "second", 1], [3600, "minute", 60], [86400, "hour", 3600], [604800, "day", 86400], [2629800, "week", 604800], [31557600, "month", 2629800], [Infinity, "year", 31557600]];
  function ready(part = document) {
    for (const item of all("time[data-relative]", part)) {
      const seconds = (new Date(item.dateTime) - Date.now()) / 1000, [, unit, size] = steps.find(([limit]) => Math.abs(seconds) < limit) || [];
      if (unit) item.textContent = relative.format(Math.trunc(seconds / size), unit);
    }
    for (const block of all(".code[data-copy]", part).filter((item) => !one("[data-copy-button]", item))) {
      const button = make("button", { type: "button", className: "btn small", textContent: words.copyWord });
      button.dataset.copyButton = one("code", block).dataset.copyText = "";
      block.append(button);
    }
    all("form[data-dirty]", part).forEach(touch);
  }

  nameJumps();
  theme(root.dataset.theme || "");
  ready();
  attempt(settleDrafts);
  one(".rail [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
  setInterval(ready, 30000);
})();
