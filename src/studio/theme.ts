import { keptTheme } from "../web/theme.js";

/** Light or dark for Studio, whatever is chosen for the guests' page. */
export const { theme, next: nextTheme } = keptTheme("maitred.studio.theme");
