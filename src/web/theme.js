import { forGood } from "./browser-store.js";
import { byId } from "./dom.js";

/** Light, dark, or as the system has it; the choice stays in this browser. */

const KEY = "maitred.theme";
const NEXT = { system: "light", light: "dark", dark: "system" };
const LABELS = { system: ["◐", "as the system has it"], light: ["☀", "light"], dark: ["☾", "dark"] };

export function startTheme() {
  show(forGood.get(KEY) ?? "system");
  byId("theme").addEventListener("click", () => {
    const next = NEXT[document.documentElement.dataset.choice ?? "system"];
    forGood.set(KEY, next);
    show(next);
  });
}

function show(choice) {
  const known = Object.hasOwn(NEXT, choice) ? choice : "system";
  const root = document.documentElement;
  root.dataset.choice = known;
  if (known === "system") delete root.dataset.theme;
  else root.dataset.theme = known;
  const [sign, words] = LABELS[known];
  byId("theme").textContent = sign;
  byId("theme").setAttribute("aria-label", `Colours: ${words}. Change`);
}
