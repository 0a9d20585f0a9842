// SPDX-License-Identifier: MIT
// Light or dark as the system says, or as chosen here. All dark rules of the page and of its drawings stand in media
// queries; a choice switches those on or off. Saved drawings keep the query and follow their reader.

const kDarkRules = new WeakSet();

function applyTheme() {
  const theme = field("theme").value;
  document.documentElement.style.colorScheme = theme || "light dark";
  for (const sheet of document.styleSheets) {
    for (const rule of sheet.cssRules) {
      if (!(rule instanceof CSSMediaRule)) continue;
      if (rule.media.mediaText.includes("prefers-color-scheme")) kDarkRules.add(rule);
      if (kDarkRules.has(rule)) rule.media.mediaText = {light: "not all", dark: "all"}[theme] ?? "(prefers-color-scheme: dark)";
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
