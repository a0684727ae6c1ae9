// Before anything is painted: the theme that the reader chose, or the system's.
(() => {
  let chosen = null;
  try {
    chosen = localStorage.getItem("adbind-theme");
  } catch {
    // A browser that keeps nothing has the system's theme.
  }
  if (chosen === "dark" || chosen === "light") document.documentElement.dataset.theme = chosen;
})();
