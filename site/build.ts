/**
 * Builds the documentation's site, or serves it while it is written: `npm run docs [-- --outDir DIR --base /PATH/]`, `npm run docs:dev`.
 */
import { join } from "node:path";
import { parseArgs } from "node:util";
import { generate, runOfSite } from "./generate.js";
import { ROOT } from "./pages.js";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { outDir: { type: "string", default: join(ROOT, "site", "dist") }, base: { type: "string", default: "/" } },
});
const [command = "build"] = positionals;
const vitepress = (...options: string[]) => runOfSite("vitepress/bin/vitepress.js", command, ".", "--base", values.base, ...options);

await generate();
if (command === "dev") vitepress();
else {
  vitepress("--outDir", values.outDir);
  console.log(`The site lies in ${values.outDir}. Any server of files can serve it; \`npm run docs:dev\` shows it while it is written.`);
}
