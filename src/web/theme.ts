import { effect, signal } from "@preact/signals";
import { forGood } from "./browser-store.js";

/** The reader's own choice of light or dark; `system` leaves it to the system. */
const THEMES = ["system", "light", "dark"] as const;

/** The choice that this browser keeps under a name, shown from now on. */
export function keptTheme(name: string) {
  const kept = forGood.get(name);
  const theme = signal(THEMES.find((each) => each === kept) ?? "system");
  effect(() => {
    const { dataset } = document.documentElement;
    if (theme.value === "system") delete dataset.theme;
    else dataset.theme = theme.value;
    forGood.set(name, theme.value);
  });
  const next = () => {
    theme.value = THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length] ?? "system";
  };
  return { theme, next };
}
