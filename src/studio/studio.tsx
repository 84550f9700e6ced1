import { render } from "preact";
import { begin } from "./session.js";
import { Studio } from "./shell.js";
import { followTheme } from "./theme.js";

followTheme();
const root = document.getElementById("studio");
if (root !== null) {
  root.replaceChildren();
  render(<Studio />, root);
}
void begin();
