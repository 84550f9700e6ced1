// The fonts of the reader's system: nothing is loaded for them.
import DefaultTheme from "vitepress/theme-without-fonts";

export default DefaultTheme;
