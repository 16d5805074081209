// Runs before the first paint: the chosen theme must be on <html> before anything is drawn.
(function () {
  "use strict";
  var root = document.documentElement, theme = null;
  try { theme = localStorage.getItem("theme"); } catch (error) { /* storage is blocked: the system's theme stays */ }
  if (theme === "light" || theme === "dark") root.dataset.theme = theme;
  root.classList.add("js");
})();
