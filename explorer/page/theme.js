// SPDX-License-Identifier: MIT
// Light or dark as the system says, or as chosen here. All dark rules of the page and of its drawings stand in media
// queries; a choice switches those on or off. Saved drawings keep the query and follow their reader.

const darkRules = new WeakMap();  // rule -> its own media query

function applyTheme() {
  const theme = field("theme").value;
  document.documentElement.style.colorScheme = theme || "light dark";
  for (const sheet of document.styleSheets) {
    for (const rule of sheet.cssRules) {
      if (!(rule instanceof CSSMediaRule)) continue;
      const query = rule.media.mediaText;
      if (!darkRules.has(rule) && query.includes("prefers-color-scheme")) darkRules.set(rule, query);
      if (darkRules.has(rule)) rule.media.mediaText = {light: "not all", dark: "screen"}[theme] ?? darkRules.get(rule);
    }
  }
}

function startTheme() {
  try {
    field("theme").value = localStorage.getItem("chasqui-theme") ?? "";
  } catch { /* a page without storage starts as the system says */ }
  field("theme").addEventListener("input", () => {
    try {
      localStorage.setItem("chasqui-theme", field("theme").value);
    } catch { /* not remembered */ }
    applyTheme();
  });
  applyTheme();
}
