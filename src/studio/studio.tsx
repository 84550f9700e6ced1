import { render } from "preact";

const root = document.getElementById("studio");
if (root !== null) render(<p>Studio</p>, root);
