import { render } from "preact";
import { begin } from "./session.js";
import { Studio } from "./shell.js";

const root = document.getElementById("studio");
if (root !== null) {
  root.replaceChildren();
  render(<Studio />, root);
}
void begin();
