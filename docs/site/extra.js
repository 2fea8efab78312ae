// What the theme leaves out for keyboards and screen readers: names, and a focus for what scrolls.
const mend = () => {
  document.querySelector(".md-search")?.setAttribute("aria-label", "Search");
  document.querySelectorAll(".md-typeset__scrollwrap, .md-typeset pre > code, math[display=block]").forEach((part) => { part.tabIndex = 0; });
  document.querySelectorAll(".md-code__nav").forEach((part, k) => part.setAttribute("aria-label", `Code ${k + 1}`));
};
mend();
new MutationObserver(mend).observe(document.body, { childList: true, subtree: true });
