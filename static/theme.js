// Runs before the first paint. On an account's pages the server has put its looks on <html>; a page without an account,
// as that of signing in, looks as this browser last did.
(function () {
  "use strict";
  var root = document.documentElement, theme = null;
  if (!root.hasAttribute("data-account")) try { theme = localStorage.getItem("theme"); } catch (error) { /* storage is blocked: the system's theme stays */ }
  if (theme === "light" || theme === "dark") root.dataset.theme = theme;
  root.classList.add("js");
})();
